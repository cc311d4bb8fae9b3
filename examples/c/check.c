/* Checks files before they are loaded, and shows what is in those that pass.
 *
 *     cc -std=c99 check.c $(pkg-config --cflags --libs pte) -o check
 *     ./check model.pte weights.ptd          the data files are those that the program needs
 *
 * Exit status: 0 no error, 1 an error or a broken file, 3 not readable. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pte.h"

/* The bytes of a file; NULL if it cannot be read. */
static unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length;
    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)length;
        bytes = malloc(*size + 1);
        if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

static void show_findings(const pte_report *report) {
    static const char *const severities[] = {"note", "warning", "error"};
    pte_finding finding;
    size_t index;
    for (index = 0; pte_report_finding(report, index, &finding) == PTE_OK; index++) {
        printf("  %s[%s]", severities[finding.severity], finding.rule.data);
        if (finding.has_offset) {
            printf(" at 0x%" PRIx64, finding.offset);
        }
        /* These texts are escaped: they can be printed, also of untrusted files. */
        printf(" %s: %s\n", finding.path.data, finding.message.data);
    }
}

static void show_value(const char *what, size_t index, const pte_value *value) {
    size_t dimension;
    printf("    %s %zu:", what, index);
    if (value->kind == PTE_VALUE_TENSOR) {
        printf(" %s [", value->dtype_name.data);
        for (dimension = 0; dimension < value->rank && dimension < 16; dimension++) {
            printf("%s%" PRId32, dimension == 0 ? "" : ", ", value->sizes[dimension]);
        }
        printf("]");
    }
    printf("\n");
}

/* Reads a file that has passed the check. */
static void show_contents(const pte_file *file) {
    pte_method method;
    pte_value value;
    size_t nth, index;
    uint64_t bytes;
    for (nth = 0; pte_file_method(file, nth, &method) == PTE_OK; nth++) {
        /* Names are as the file has them, so their length is printed and not their text. */
        printf("  method %zu: a name of %zu bytes, %zu values\n", nth, method.name.size, method.value_count);
        for (index = 0; pte_method_input(file, nth, index, &value) == PTE_OK; index++) {
            show_value("input", index, &value);
        }
        for (index = 0; pte_method_output(file, nth, index, &value) == PTE_OK; index++) {
            show_value("output", index, &value);
        }
        for (index = 0; pte_method_arena(file, nth, index, &bytes) == PTE_OK; index++) {
            printf("    arena %zu: %" PRIu64 " bytes\n", index + 1, bytes);
        }
        for (index = 0; pte_method_delegate(file, nth, index, &value) == PTE_OK; index++) {
            printf("    delegate %zu: a payload of %zu bytes\n", index, value.size);
        }
    }
    for (index = 0; pte_file_data(file, index, &value) == PTE_OK; index++) {
        printf("  data %zu: %zu bytes\n", index, value.size);
    }
}

int main(int argc, char **argv) {
    pte_options *options = NULL;
    pte_report *report = NULL;
    pte_file *file = NULL;
    unsigned char *bytes[64] = {NULL};
    size_t sizes[64] = {0}, errors;
    int nth, status = 3;
    if (argc < 2 || argc > 64) {
        fprintf(stderr, "usage: check MODEL.pte [DATA.ptd...]\n");
        return 2;
    }
    for (nth = 1; nth < argc; nth++) {
        bytes[nth] = read_file(argv[nth], &sizes[nth]);
        if (bytes[nth] == NULL) {
            perror(argv[nth]);
            goto done;
        }
    }
    if (pte_options_new(&options) != PTE_OK || pte_options_set_name(options, argv[1]) != PTE_OK) {
        goto done;
    }
    for (nth = 2; nth < argc; nth++) {
        if (pte_options_add_data(options, argv[nth], bytes[nth], sizes[nth]) != PTE_OK) {
            fprintf(stderr, "%s: no data file\n", argv[nth]);
            goto done;
        }
    }
    if (pte_check(bytes[1], sizes[1], options, &report) != PTE_OK) {
        goto done;
    }
    errors = pte_report_error_count(report);
    printf("%s: %s, %zu errors, %zu warnings, %zu notes\n", argv[1], errors == 0 ? "ok" : "refused", errors,
           pte_report_warning_count(report), pte_report_note_count(report));
    show_findings(report);
    status = errors == 0 ? 0 : 1;
    /* A bundle or a payload passes a check too, and is no file that a runtime loads as it is. */
    if (errors == 0 && pte_file_open(bytes[1], sizes[1], options, &file) == PTE_OK) {
        show_contents(file);
    }
done:
    pte_file_free(file);
    pte_report_free(report);
    pte_options_free(options);
    for (nth = 1; nth < argc; nth++) {
        free(bytes[nth]);
    }
    return status;
}
