/* Calls the library with an allocator that fails: once at the n-th call, and from the n-th call on, for every n until
 * nothing fails. Each call must succeed or return PTE_NO_MEMORY, and leave nothing allocated.
 *
 *     no_memory FILE...      prints the number of files, calls and failed allocations */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pte.h"

static unsigned long calls, failed, live, fail_at;
static int fails_on;

static void *allocate(void *context, size_t size, size_t alignment) {
    void *block = NULL;
    (void)context;
    calls++;
    if (fail_at != 0 && (calls == fail_at || (fails_on && calls > fail_at))) {
        failed++;
        return NULL;
    }
    if (posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) != 0) {
        return NULL;
    }
    live++;
    return block;
}

static void release(void *context, void *block, size_t size, size_t alignment) {
    (void)context, (void)size, (void)alignment;
    live--;
    free(block);
}

static void require(int holds, const char *what, const char *path) {
    if (!holds) {
        fprintf(stderr, "%s: %s\n", path, what);
        exit(1);
    }
}

/* Whether a status is one that short memory may have. */
static int is_fine(pte_status status) {
    return status == PTE_OK || status == PTE_NO_MEMORY || status == PTE_REFUSED;
}

static void use(const unsigned char *bytes, size_t size, const char *path, size_t errors) {
    pte_options *options = NULL;
    pte_report *report = NULL;
    pte_file *file = NULL;
    char *text = NULL;
    size_t length = 0;
    pte_status status;
    require(is_fine(pte_options_new(&options)), "pte_options_new", path);
    if (options != NULL) {
        require(is_fine(pte_options_set_name(options, path)), "pte_options_set_name", path);
        require(is_fine(pte_options_deny(options, "paths-leaked")), "pte_options_deny", path);
        require(is_fine(pte_options_set_kernels(options, "portable,prim")), "pte_options_set_kernels", path);
        require(is_fine(pte_options_add_data(options, path, bytes, size)), "pte_options_add_data", path);
        pte_options_free(options);
    }
    status = pte_check(bytes, size, NULL, &report);
    require(is_fine(status) && status != PTE_REFUSED, "pte_check", path);
    require((status == PTE_OK) == (report != NULL), "the report", path);
    if (report != NULL) {
        require(errors == (size_t)-1 || pte_report_error_count(report) == errors, "the verdict", path);
        require(is_fine(pte_report_json(report, &text, &length)), "pte_report_json", path);
        pte_text_free(text);
        require(is_fine(pte_report_sarif(report, &text, &length)), "pte_report_sarif", path);
        pte_text_free(text);
        pte_report_free(report);
    }
    require(is_fine(pte_file_open(bytes, size, NULL, &file)), "pte_file_open", path);
    if (file != NULL) {
        require(is_fine(pte_file_summary_json(file, &text, &length)), "pte_file_summary_json", path);
        pte_text_free(text);
        pte_file_free(file);
    }
    require(pte_verify(bytes, size) == (file != NULL ? PTE_OK : pte_verify(bytes, size)), "pte_verify", path);
    require(live == 0, "memory is left", path);
}

int main(int argc, char **argv) {
    const pte_allocator allocator = {allocate, release, NULL};
    unsigned long all = 0;
    int nth;
    if (pte_set_allocator(&allocator) != PTE_OK) {
        return 2;
    }
    for (nth = 1; nth < argc; nth++) {
        FILE *in = fopen(argv[nth], "rb");
        static unsigned char bytes[64 << 20];
        size_t size, errors;
        pte_report *report = NULL;
        require(in != NULL, "not readable", argv[nth]);
        size = fread(bytes, 1, sizeof bytes, in);
        fclose(in);
        fail_at = 0;
        require(pte_check(bytes, size, NULL, &report) == PTE_OK, "pte_check", argv[nth]);
        errors = pte_report_error_count(report);
        pte_report_free(report);
        for (fails_on = 0; fails_on < 2; fails_on++) {
            for (fail_at = 1;; fail_at++) {
                unsigned long before = failed;
                calls = 0;
                use(bytes, size, argv[nth], errors);
                all += calls;
                if (failed == before) {
                    break;
                }
            }
        }
    }
    printf("%d files, %lu allocations, %lu of them failed: no abort, nothing left\n", argc - 1, all, failed);
    return 0;
}
