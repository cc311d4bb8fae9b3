/* libpte: judges ExecuTorch .pte and .ptd files before a runtime loads them.
 *
 * Contract of all functions:
 * - No call ends the process or throws: failures are statuses.
 * - A buffer is `size` bytes that can be read at `data`, at any alignment. NULL is allowed if the size is 0. Nothing
 *   may write to it during a call. Afterwards it may change or be freed, unless a function says otherwise.
 * - Objects may be used by several threads at once, while none frees or changes them. Different objects are independent.
 * - Pointers to objects may be NULL: such a call does nothing, and returns 0 or PTE_INVALID_ARGUMENT.
 * - An object that was freed must not be used again, nor texts of it.
 * - Structs of this version never change. New facts come with new functions.
 *
 * Made by cbindgen from src/c; do not edit. The guide is docs/c.md.
 */

#ifndef PTE_H
#define PTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header; pte_version() is that of the library. */
#define PTE_VERSION_MAJOR 0
#define PTE_VERSION_MINOR 3
#define PTE_VERSION_PATCH 0

/**
 * The outcome of a call.
 */
typedef enum {
    /**
     * The call has done what it is for. Of pte_check: the file was judged, with any verdict.
     */
    PTE_OK = 0,
    /**
     * A pointer is null, an index is out of range, or a text is not what the argument takes.
     */
    PTE_INVALID_ARGUMENT = 1,
    /**
     * Memory is short. Nothing was changed, and nothing is to be freed.
     */
    PTE_NO_MEMORY = 2,
    /**
     * The structure of the bytes is broken, or they are no .pte or .ptd file.
     */
    PTE_REFUSED = 3,
    /**
     * The file has nothing of this name.
     */
    PTE_NOT_FOUND = 4,
    /**
     * The library has a bug, which it has caught. Treat the file as refused, and report it.
     */
    PTE_BUG = 5,
} pte_status;

/**
 * The type of a value.
 */
typedef enum {
    /**
     * No value.
     */
    PTE_VALUE_NONE = 0,
    /**
     * A tensor.
     */
    PTE_VALUE_TENSOR = 1,
    /**
     * Named bytes without a shape.
     */
    PTE_VALUE_BLOB = 2,
    /**
     * An integer.
     */
    PTE_VALUE_INT = 3,
    /**
     * A floating-point number.
     */
    PTE_VALUE_DOUBLE = 4,
    /**
     * A boolean: `integer` is 0 or 1.
     */
    PTE_VALUE_BOOL = 5,
    /**
     * A text.
     */
    PTE_VALUE_STRING = 6,
    /**
     * A list, or a type that this version does not know.
     */
    PTE_VALUE_OTHER = 7,
} pte_value_kind;

/**
 * Where the bytes of a tensor are.
 */
typedef enum {
    /**
     * The caller of the runtime provides them: an input, for example.
     */
    PTE_STORAGE_NONE = 0,
    /**
     * In the file, and they never change.
     */
    PTE_STORAGE_FILE = 1,
    /**
     * In a planned arena; the file has the initial bytes.
     */
    PTE_STORAGE_INITIAL = 2,
    /**
     * In a planned arena.
     */
    PTE_STORAGE_PLANNED = 3,
    /**
     * In a .ptd file, under `name`.
     */
    PTE_STORAGE_EXTERNAL = 4,
    /**
     * The reference to them is invalid. A check reports it.
     */
    PTE_STORAGE_BROKEN = 5,
} pte_storage;

/**
 * How bad a finding is.
 */
typedef enum {
    /**
     * Worth knowing.
     */
    PTE_NOTE = 0,
    /**
     * Probably a mistake.
     */
    PTE_WARNING = 1,
    /**
     * The official runtime refuses the file, crashes on it or misreads it.
     */
    PTE_ERROR = 2,
} pte_severity;

/**
 * A file whose structure is proven. It never changes.
 */
typedef struct pte_file pte_file;

/**
 * The options of a check. One object may be used by several threads while none of them changes it.
 */
typedef struct pte_options pte_options;

/**
 * The findings in a file. It refers to nothing of the caller, and never changes.
 */
typedef struct pte_report pte_report;

/**
 * The allocator that the library gets memory from.
 *
 * Its functions may be called from every thread that calls the library, and must not call the library.
 */
typedef struct {
    /**
     * Returns `size` bytes at a multiple of `alignment`, a power of two; NULL if memory is short. `size` is not 0.
     */
    void *(*allocate)(void *context, size_t size, size_t alignment);
    /**
     * Takes back what `allocate` has returned for the same size and alignment.
     */
    void (*release)(void *context, void *block, size_t size, size_t alignment);
    /**
     * The first argument of both.
     */
    void *context;
} pte_allocator;

/**
 * Why the structure of a file is refused.
 */
typedef struct {
    /**
     * The id of the rule, such as "offset-out-of-bounds", as a C string; empty if the file is not refused.
     */
    char rule[32];
    /**
     * The offset of the wrong bytes in the file.
     */
    uint64_t offset;
} pte_refusal;

/**
 * A text. `data[size]` is a NUL.
 *
 * Texts that are said to be escaped have no other NUL, and no character that a terminal acts on: they can be printed
 * as C strings. Names of a file are as the file has them, and may contain anything that is UTF-8, also NULs.
 */
typedef struct {
    /**
     * The bytes, in UTF-8. Never null.
     */
    const char *data;
    /**
     * The number of bytes, without the NUL at the end.
     */
    size_t size;
} pte_text;

/**
 * A method of a program.
 */
typedef struct {
    /**
     * The name, as the file has it.
     */
    pte_text name;
    /**
     * The number of inputs.
     */
    size_t input_count;
    /**
     * The number of outputs.
     */
    size_t output_count;
    /**
     * The number of values.
     */
    size_t value_count;
    /**
     * The number of planned arenas.
     */
    size_t arena_count;
    /**
     * The number of delegates.
     */
    size_t delegate_count;
} pte_method;

/**
 * A value of a method, a tensor or named data.
 */
typedef struct {
    /**
     * The type. Fields of other types are 0 or empty.
     */
    pte_value_kind kind;
    /**
     * The fully qualified name of a tensor, or the key of data, as the file has it; empty if it has none. It belongs
     * to the pte_file.
     */
    pte_text name;
    /**
     * The dtype: a number of ExecuTorch's ScalarType; -1 if the value is no tensor.
     */
    int32_t dtype;
    /**
     * PyTorch's name of the dtype, such as "float32"; empty if the runtime does not know it.
     */
    pte_text dtype_name;
    /**
     * The number of sizes. More than 16 are refused by the runtime.
     */
    size_t rank;
    /**
     * The first 16 sizes, the outermost dimension first.
     */
    int32_t sizes[16];
    /**
     * Whether the sizes may change when the program runs.
     */
    bool is_dynamic;
    /**
     * Where the bytes are.
     */
    pte_storage storage;
    /**
     * The memory id of the planned arena, from 1 on; 0 if there is none.
     */
    uint32_t arena;
    /**
     * The offset in the arena.
     */
    uint64_t arena_offset;
    /**
     * The bytes in the buffer of the caller; NULL if there are none.
     */
    const void *data;
    /**
     * The number of bytes.
     */
    size_t size;
    /**
     * The number of an integer or a boolean.
     */
    int64_t integer;
    /**
     * The number of a floating-point number.
     */
    double number;
    /**
     * The text, as the file has it.
     */
    pte_text text;
} pte_value;

/**
 * A finding. All texts are escaped, and belong to the report.
 */
typedef struct {
    /**
     * The id of the rule, such as "tensor-shape"; docs/rules.md describes each. Ids never change their meaning.
     */
    pte_text rule;
    /**
     * The severity, by the options of the check.
     */
    pte_severity severity;
    /**
     * Whether `offset` is set: a finding may be about the file as a whole.
     */
    bool has_offset;
    /**
     * The offset of the wrong bytes in the file.
     */
    uint64_t offset;
    /**
     * The path from the root table to these bytes; may be empty.
     */
    pte_text path;
    /**
     * What is wrong, with the values and the limits.
     */
    pte_text message;
    /**
     * The consequence; may be empty.
     */
    pte_text why;
    /**
     * What to do; may be empty.
     */
    pte_text help;
    /**
     * The name of the data file that the finding is in; empty for the checked file itself.
     */
    pte_text data_file;
} pte_finding;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the version of the library, such as "0.3.0".
 */
const char *pte_version(void);

/**
 * Returns what a status means, in English.
 */
const char *pte_status_message(int32_t status);

/**
 * Sets the allocator of the library, for the whole process. Without this call it is malloc and free.
 *
 * Returns PTE_INVALID_ARGUMENT if a function is null, or if the library has allocated before.
 */
pte_status pte_set_allocator(const pte_allocator *allocator);

/**
 * Proves the structure of a .pte or .ptd file: that every offset, length and text in its tables is where it may be.
 * No rule about their meaning is checked. A call allocates nothing.
 *
 * Returns PTE_OK or PTE_REFUSED.
 */
pte_status pte_verify(const void *data,
                      size_t size);

/**
 * Proves the structure as pte_verify does, and writes to `refusal` why the file is refused. `refusal` may be NULL.
 */
pte_status pte_verify_refusal(const void *data,
                              size_t size,
                              pte_refusal *refusal);

/**
 * Proves the structure of a .pte or .ptd file, and opens it. Rules are not checked: that is pte_check.
 *
 * The tables are copied, so names, shapes and offsets stay as proven if the buffer changes. Data is not
 * copied: the buffer must stay until the file is freed. `options` may be NULL. `*file` is NULL unless PTE_OK is
 * returned.
 */
pte_status pte_file_open(const void *data,
                         size_t size,
                         const pte_options *options,
                         pte_file **file);

/**
 * Closes a file. Does nothing for NULL.
 */
void pte_file_free(pte_file *file);

/**
 * Returns whether the file is a program (.pte), and not a data file (.ptd); false for NULL.
 */
bool pte_file_is_program(const pte_file *file);

/**
 * Gives a summary as JSON: the document pte.info/1, as `pte info --json` prints it. Free it by pte_text_free.
 */
pte_status pte_file_summary_json(const pte_file *file,
                                 char **text,
                                 size_t *size);

/**
 * Returns the number of methods; 0 for a data file.
 */
size_t pte_file_method_count(const pte_file *file);

/**
 * Gives method `index`.
 */
pte_status pte_file_method(const pte_file *file, size_t index, pte_method *method);

/**
 * Gives the index of the first method with a name, which is the one that runs. The name has `size` bytes.
 */
pte_status pte_file_find_method(const pte_file *file,
                                const char *name,
                                size_t size,
                                size_t *index);

/**
 * Gives the size in bytes of planned arena `index` of a method. The memory id of arena 0 is 1.
 */
pte_status pte_method_arena(const pte_file *file, size_t method, size_t index, uint64_t *size);

/**
 * Gives the id of the backend of delegate `index` of a method as `value->name`, and its payload as its data.
 */
pte_status pte_method_delegate(const pte_file *file,
                               size_t method,
                               size_t index,
                               pte_value *value);

/**
 * Gives input `index` of a method.
 */
pte_status pte_method_input(const pte_file *file, size_t method, size_t index, pte_value *value);

/**
 * Gives output `index` of a method.
 */
pte_status pte_method_output(const pte_file *file, size_t method, size_t index, pte_value *value);

/**
 * Gives value `index` of a method: inputs, outputs, constants and what is computed.
 */
pte_status pte_method_value(const pte_file *file, size_t method, size_t index, pte_value *value);

/**
 * Gives the first tensor of a program with a fully qualified name, or the entry of a data file. The name has `size`
 * bytes. The search takes time for each tensor.
 */
pte_status pte_file_find_tensor(const pte_file *file,
                                const char *name,
                                size_t size,
                                pte_value *value);

/**
 * Returns the number of named data of a program, or of the entries of a data file.
 */
size_t pte_file_data_count(const pte_file *file);

/**
 * Gives named data `index` of a program, or entry `index` of a data file.
 */
pte_status pte_file_data(const pte_file *file, size_t index, pte_value *value);

/**
 * Gives the first named data of a program with a key, or entry of a data file. The key has `size` bytes. The search
 * takes time for each key.
 */
pte_status pte_file_find_data(const pte_file *file,
                              const char *key,
                              size_t size,
                              pte_value *value);

/**
 * Makes options with the defaults: every rule at its own severity, the limits for untrusted files.
 */
pte_status pte_options_new(pte_options **options);

/**
 * Frees options. Does nothing for NULL. Reports and files that were made with them stay.
 */
void pte_options_free(pte_options *options);

/**
 * Sets the name of the file in documents, such as its path. It is a C string in UTF-8.
 */
pte_status pte_options_set_name(pte_options *options, const char *name);

/**
 * Adds a .ptd file that programs are used with, called `name` in findings. Without one, external data is not judged.
 *
 * The bytes are not copied: they must stay and not change for as long as the options are used. Returns PTE_REFUSED if
 * their structure is broken; pte_check them to learn where.
 */
pte_status pte_options_add_data(pte_options *options,
                                const char *name,
                                const void *data,
                                size_t size);

/**
 * Sets the release of the runtime to judge for, such as "0.7" or "1.5".
 */
pte_status pte_options_set_release(pte_options *options, const char *release);

/**
 * Sets a preset: a named set of rules whose findings are errors. There is "untrusted-upload".
 */
pte_status pte_options_set_preset(pte_options *options, const char *preset);

/**
 * Leaves out findings of a rule, also if it is denied.
 */
pte_status pte_options_allow(pte_options *options, const char *rule);

/**
 * Turns findings of a rule into errors, or all warnings for "warnings".
 */
pte_status pte_options_deny(pte_options *options, const char *rule);

/**
 * Sets the kernels that the runtime links: libraries and packages with commas between, such as "portable,quantized",
 * or the text of a selected_operators.yaml. A call of another operator is an error.
 */
pte_status pte_options_set_kernels(pte_options *options,
                                   const char *kernels);

/**
 * Sets the backends that the runtime links: ids and packages with commas between, such as "XnnpackBackend".
 */
pte_status pte_options_set_backends(pte_options *options,
                                    const char *backends);

/**
 * Sets whether all bytes are searched for executable content. By default only the beginnings of segments are.
 */
pte_status pte_options_set_scan(pte_options *options,
                                bool scan);

/**
 * Sets how many findings of each rule are kept: 100 by default, and at most 10000. The rest are counted.
 */
pte_status pte_options_set_findings_per_rule(pte_options *options,
                                             uint32_t most);

/**
 * Sets the longest tables in bytes that are accepted: 2^31 - 1 by default.
 */
pte_status pte_options_set_table_limit(pte_options *options, uint64_t most);

/**
 * Sets the most bytes of tables that are visited for each byte of them: 4 by default, and at most 64. Tables may be
 * shared, so a small file can describe a huge tree.
 */
pte_status pte_options_set_amplification(pte_options *options,
                                         uint32_t most);

/**
 * Judges a file of any kind by every rule, and makes a report.
 *
 * Returns PTE_OK if the file was judged, with any verdict: pte_report_error_count has that. A file whose structure
 * is broken has one finding. `options` may be NULL, for the defaults. `*report` is NULL unless PTE_OK is returned.
 */
pte_status pte_check(const void *data,
                     size_t size,
                     const pte_options *options,
                     pte_report **report);

/**
 * Returns the number of errors, with those that the limit on findings left out; 0 for NULL.
 */
size_t pte_report_error_count(const pte_report *report);

/**
 * Frees a report, and all texts of it. Does nothing for NULL.
 */
void pte_report_free(pte_report *report);

/**
 * Returns the number of warnings; 0 for NULL.
 */
size_t pte_report_warning_count(const pte_report *report);

/**
 * Returns the number of notes; 0 for NULL.
 */
size_t pte_report_note_count(const pte_report *report);

/**
 * Returns the number of findings that the report has; 0 for NULL. It may have fewer than were counted: see
 * pte_options_set_findings_per_rule.
 */
size_t pte_report_finding_count(const pte_report *report);

/**
 * Returns the number of findings that were counted and not kept; 0 for NULL.
 */
size_t pte_report_omitted_count(const pte_report *report);

/**
 * Gives finding `index`; the worst come first. Its texts exist as long as the report.
 */
pte_status pte_report_finding(const pte_report *report, size_t index, pte_finding *finding);

/**
 * Gives the report as JSON: the document pte.check/1, as `pte check --json` prints it. Free it by pte_text_free.
 */
pte_status pte_report_json(const pte_report *report,
                           char **text,
                           size_t *size);

/**
 * Gives the report as SARIF 2.1.0, which code-scanning sites read. Free it by pte_text_free.
 */
pte_status pte_report_sarif(const pte_report *report, char **text, size_t *size);

/**
 * Frees a document. Does nothing for NULL.
 */
void pte_text_free(char *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PTE_H */
