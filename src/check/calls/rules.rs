//! The rules on instructions.

use crate::rule::rules;

rules! {
    "calls";

    CHAINS_SEVERAL = Warning "chains-several"
        "A method has one chain."
        "No writer makes more than one."
        UNUSUAL
        Ignores ["6.5"];
    INSTRUCTIONS_MISSING = Error "instructions-missing"
        "A chain has a list of instructions, which may be empty."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.23", "7.7.6"];
    INSTRUCTION_EMPTY = Error "instruction-empty"
        "No instruction is empty."
        "Loading the method is refused, or reads through a null pointer."
        MADE_BY_HAND
        Crashes ["7.4.24", "7.4.30", "7.7.6", "7.7.7"];
    INSTRUCTION_UNKNOWN = Error "instruction-unknown"
        "Every instruction is of a kind that the runtime knows."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.30", "7.7.7"];
    ARGS_MISSING = Error "args-missing"
        "A call has a list of arguments, which may be empty."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.25", "7.7.6"];
    ARGS_INDEX = Error "args-index"
        "Every argument is the index of a value."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.25"];
    OPERATOR_INDEX = Error "operator-index"
        "A call's operator is one of the method's."
        "The runtime ignores the failed lookup once a later call resolves, and calls an unset function pointer."
        MADE_BY_HAND
        Misreads ["7.4.26", "7.7.16", "8.2 #22357"];
    OPERATOR_NAME_MISSING = Error "operator-name-missing"
        "An operator has a name."
        "The runtime ignores the failed lookup, and calls an unset function pointer."
        MADE_BY_HAND
        Misreads ["7.4.26", "7.7.6", "8.2 #22357"];
    OPERATOR_NAME_LONG = Error "operator-name-long"
        "An operator's name and overload together have less than 100 bytes."
        "The runtime ignores the failed lookup, and calls an unset function pointer."
        MADE_BY_HAND
        Misreads ["6.5", "7.4.27", "7.7.11"];
    OPERATOR_NAME_NUL = Warning "operator-name-nul"
        "An operator's name and overload hold no NUL."
        "Runtimes read up to the NUL, and call another operator."
        UNUSUAL
        Ignores ["7.7.11"];
    OPERATOR_OVERLOAD_MISSING = Error "operator-overload-missing"
        "An operator has an overload, which may be empty."
        "If the kernel fails, writing the log reads through a null pointer."
        MADE_BY_HAND
        Crashes ["7.4.39", "7.7.6"];
    DELEGATE_INDEX = Error "delegate-index"
        "A call's delegate is one of the method's."
        "Running the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.31", "7.7.16"];
    MOVE_INDEX = Error "move-index"
        "The source and the target of a move are values."
        "Loading the method is refused; older runtimes read and write past the values."
        MADE_BY_HAND
        Refuses ["7.4.29", "8.2 1e9bd73b88"];
    MOVE_LIST = Error "move-list"
        "Nothing is moved onto a list, nor a list onto anything."
        "The runtime destroys memory that the list does not own."
        MADE_BY_HAND
        Misreads ["7.4.40", "7.7.16", "8.2 deaf73b831"];
    FREE_INDEX = Error "free-index"
        "A freed index is the index of a value."
        "Loading the method is refused; older runtimes read past the values."
        MADE_BY_HAND
        Refuses ["7.4.29", "8.2 ee92757215"];
    FREE_TYPE = Error "free-type"
        "Only tensors are freed."
        "Running the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.38", "7.7.16", "8.2 930ecfd57e"];
    JUMP_CONDITION_INDEX = Error "jump-condition-index"
        "The condition of a jump is a value."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.29"];
    JUMP_CONDITION_TYPE = Error "jump-condition-type"
        "The condition of a jump is a Bool, or a tensor of them."
        "Running the method is refused."
        MADE_BY_HAND
        Refuses ["6.5", "7.4.36", "7.7.16"];
    JUMP_CONDITION_STORAGE = Error "jump-condition-storage"
        "The condition of a jump, if it is a tensor, has memory for its data."
        "Running the method is refused; older runtimes read through a null pointer."
        "Export the program again with memory planned for this tensor. For a buffer that the model changes: without `alloc_mutable_buffers=False` of MemoryPlanningPass, which leaves it none."
        Refuses ["7.4.37", "8.2 dc4d6ee6f6"];
    JUMP_DESTINATION = Warning "jump-destination"
        "The target of a jump is an instruction of its chain, or just past the last one."
        "The chain ends there, and outputs may not be written."
        UNUSUAL
        Ignores ["6.5", "7.4.32", "7.7.16"];
    JUMP_TO_ITSELF = Warning "jump-to-itself"
        "A jump is not its own target."
        "While the condition is false, nothing can make it true: the runtime gives up after ten million steps."
        UNUSUAL
        Refuses ["7.4.33", "7.7.16", "8.2 c4983ce1f7"]
        untrusted_upload "The loop never ends by itself: it takes a thread of its runner.";
    LOOP_ENDLESS = Warning "loop-endless"
        "A loop changes the condition of its backward jump, or another jump leaves it."
        "While the condition is false, nothing can make it true: the runtime gives up after ten million steps."
        "Change the model so that the loop ends."
        Refuses ["7.4.33", "7.7.16", "8.2 c4983ce1f7"]
        untrusted_upload "The loop never ends by itself: it takes a thread of its runner.";
    LOOP_FOREVER = Error "loop-forever"
        "A backward jump is not taken every time: its condition is not a constant false, or another jump leaves the loop."
        "The method never ends by itself: the runtime gives up after ten million instructions, hours with real kernels."
        "Change the model so that the loop ends."
        Refuses ["7.4.33", "7.7.16", "8.2 c4983ce1f7"];
    STORAGE_MISSING = Error "storage-missing"
        "A tensor whose data a kernel needs has memory for it: it is constant, planned, external, an input or an output, or an earlier call gives memory to it. The same holds for every tensor of a list."
        "The kernel reads or writes through a null pointer."
        "Export the program again with memory planned for this tensor. For a buffer that the model changes: without `alloc_mutable_buffers=False` of MemoryPlanningPass, which leaves it none."
        Crashes ["6.1", "7.8"];
    STACKTRACE_LENGTH = Note "stacktrace-length"
        "A chain has as many stack traces as instructions, or none."
        "Tools that show stack traces show the wrong ones."
        "`pte edit --strip stacktrace` removes the stack traces."
        Ignores ["6.5"];
    PATHS_LEAKED = Note "paths-leaked"
        "Stack traces do not hold paths of the machine that exported the program."
        "Readers of the file learn names of users and folders."
        "`pte edit --strip stacktrace` removes the stack traces."
        Ignores ["6.5"]
        untrusted_upload "The uploader publishes names of users and folders.";
}
