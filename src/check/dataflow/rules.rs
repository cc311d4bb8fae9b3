//! The rules on dataflow.

use crate::rule::rules;

rules! {
    "flow";

    MOVE_TYPE = Error "move-type"
        "A value has the kind that its user (a call, jump, free, list or input) expects, also after a move."
        "The value is of another kind than planned: a kernel's conversion aborts, and a jump is refused."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Crashes ["6.5", "7.4.40", "7.4.41", "7.7.16"];
    MOVE_TYPE_UNREAD = Warning "move-type-unread"
        "A value is moved onto a value of the same kind, even if nothing uses it."
        "No writer does this: the value is planned for another kind."
        UNUSUAL
        Ignores ["7.4.40", "7.7.16"];
    MOVE_UNSTORED = Error "move-unstored"
        "A tensor that a move has put in place of another has memory for its data when it is used."
        "The kernel that uses it reads or writes through a null pointer."
        "Export the program again with memory planned for this tensor."
        Crashes ["6.1", "7.4.41"];
    OUTPUT_LARGER = Error "move-output-larger"
        "A tensor that a move has put in place of an output without memory has no more bytes than the output."
        "In the next run the caller gives the output's memory to the larger tensor, which is written past its end."
        "Export the program again with memory planned for its outputs."
        Misreads ["6.5", "7.4.41"];
    RESULT_TYPE = Error "result-type"
        "The result of a primitive operator has the kind that its user (a call, jump, free, list or input) expects."
        "The result replaces the value together with its kind: a kernel's conversion aborts, and a jump is refused."
        "Change the call in the model to what the operator takes, or export it again with a current release."
        Crashes ["6.5", "7.4.42", "7.7.16"];
    USE_AFTER_FREE = Error "use-after-free"
        "No call, jump, list, planned input or output uses a tensor after its memory is freed, at any index, unless it gets memory again."
        "Its data is gone, also when the method runs again: the next use reads or writes through a null pointer."
        MADE_BY_HAND
        Crashes ["6.5", "7.4.43", "7.7.16"];
    CONSTANT_WRITTEN = Error "constant-written"
        "No kernel writes to a constant, nor to an alias or a view of one. No input is copied there."
        "The file's own bytes are overwritten, or the program dies if they are mapped or in ROM."
        "Make the tensor a buffer of the model, with memory: without `alloc_mutable_buffers=False` of MemoryPlanningPass."
        Misreads ["6.1", "7.4.44", "7.7.16"];
    ARGS_OVERLAP = Warning "args-overlap"
        "The output of a call shares no planned bytes with another of its arguments."
        "The kernel overwrites what it has yet to read."
        "Plan the memory so that these tensors are apart, and export the program again."
        Ignores ["6.2", "7.7.18"];
    INDEX_OVERLAP = Error "index-overlap"
        "The output of a call shares no memory with an argument that the kernel checks first and reads again: an index, a mask, a count, a zero point, or rows that scales are computed from. An index that nothing writes is not in memory that another tensor is written to."
        "The kernel checks it, then overwrites it, and then reads or writes wherever it points, or aborts. An index without a writer has the bytes of the other tensor."
        "Plan the memory so that these tensors are apart, and export the program again."
        Misreads ["6.2", "7.4.46", "7.7.18"];
    OUTPUT_RESIZED = Error "output-resized"
        "The output of a matrix product, a linear layer or a concatenation is none of its inputs, if it can be resized."
        "The kernel resizes the output, then reads the new sizes as those of the input, and reads or writes past both."
        "Plan the memory so that these tensors are apart, and export the program again."
        Misreads ["6.2", "6.10"];
    VIEW_CAPACITY = Error "view-capacity"
        "A view that a call writes to has no larger bound than the tensor that it is a view of."
        "The kernel resizes the view up to its bound, and writes past the memory of the tensor."
        "Plan the memory so that these tensors are apart, and export the program again."
        Misreads ["6.2", "6.10"];
}
