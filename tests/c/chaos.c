/* Calls every function in random order with random arguments: whole, cut and damaged files at odd addresses, NULL
 * wherever the contract allows it, objects of other files, and each object used by several threads.
 *
 *     chaos CALLS THREADS SEED FILE...      prints the number of calls */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pte.h"

enum { MOST_FILES = 256, OBJECTS = 4, MOST_THREADS = 16 };

static unsigned char *files[MOST_FILES];
static size_t sizes[MOST_FILES];
static size_t file_count;
static unsigned long calls_of_thread;

/* Made before the threads, and used by all of them. */
static pte_report *shared_report;
static pte_file *shared_file;
static pte_options *shared_options;

typedef struct {
    uint64_t state;
    unsigned char *bytes[OBJECTS];
    pte_file *files[OBJECTS];
    pte_report *reports[OBJECTS];
    pte_options *options[OBJECTS];
    unsigned long calls;
} thread_state;

static uint64_t next(thread_state *self) {
    uint64_t z = (self->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(thread_state *self, size_t most) { return (size_t)(next(self) % most); }

/* Bytes for a call: a part of a file at an odd address, often damaged. The block is exactly as long as the part. */
static unsigned char *make_bytes(thread_state *self, size_t *size, size_t *shift) {
    size_t nth = below(self, file_count), damage;
    unsigned char *block;
    *size = below(self, 4) == 0 ? below(self, sizes[nth] + 1) : sizes[nth];
    *shift = below(self, 8);
    block = malloc(*size + *shift + (*size + *shift == 0));
    if (block == NULL) {
        abort();
    }
    memcpy(block + *shift, files[nth], *size);
    for (damage = below(self, 4) * below(self, 8); damage > 0 && *size > 0; damage--) {
        size_t near = below(self, 2) == 0 && *size > 4096 ? 4096 : *size;
        block[*shift + below(self, near)] = (unsigned char)next(self);
    }
    return block;
}

/* Reads a text to its end, so that a sanitizer sees a wrong one. */
static void read_text(pte_text text) {
    volatile size_t sum = 0;
    size_t nth;
    for (nth = 0; nth < text.size; nth++) {
        sum += (unsigned char)text.data[nth];
    }
    if (text.data[text.size] != '\0') {
        abort();
    }
}

static void read_value(const pte_value *value) {
    volatile unsigned sum = 0;
    read_text(value->name);
    read_text(value->dtype_name);
    read_text(value->text);
    if (value->size > 0) {
        sum += ((const unsigned char *)value->data)[0];
        sum += ((const unsigned char *)value->data)[value->size - 1];
    }
}

static void use_report(thread_state *self, const pte_report *report) {
    pte_finding finding;
    char *text = NULL;
    size_t size;
    size_t count = pte_report_finding_count(report);
    pte_status status;
    if (pte_report_finding(report, below(self, count + 2), below(self, 8) ? &finding : NULL) == PTE_OK) {
        read_text(finding.rule), read_text(finding.path), read_text(finding.message);
        read_text(finding.why), read_text(finding.help), read_text(finding.data_file);
    }
    pte_report_error_count(report), pte_report_warning_count(report), pte_report_note_count(report);
    pte_report_omitted_count(report);
    self->calls += 6;
    if (below(self, 32) == 0) {
        status = below(self, 2) ? pte_report_json(report, &text, &size) : pte_report_sarif(report, &text, NULL);
        if (status == PTE_OK && text[strlen(text) - 1] != '\n') {
            abort();
        }
        pte_text_free(text);
        self->calls += 2;
    }
}

static void use_file(thread_state *self, const pte_file *file) {
    pte_method method;
    pte_value value;
    uint64_t bytes;
    size_t found, size;
    char *text = NULL;
    size_t nth = below(self, pte_file_method_count(file) + 2), index = below(self, 12);
    if (below(self, 64) == 0) {
        nth = SIZE_MAX, index = SIZE_MAX;
    }
    if (pte_file_method(file, nth, below(self, 8) ? &method : NULL) == PTE_OK) {
        pte_file_find_method(file, NULL, 0, &found);
    }
    if (pte_file_method(file, nth, &method) == PTE_OK) {
        read_text(method.name);
        if (pte_file_find_method(file, method.name.data, method.name.size, &found) == PTE_OK && found > nth) {
            abort();
        }
    }
    if (pte_method_input(file, nth, index, &value) == PTE_OK) read_value(&value);
    if (pte_method_output(file, nth, index, &value) == PTE_OK) read_value(&value);
    if (pte_method_delegate(file, nth, index, &value) == PTE_OK) read_value(&value);
    if (pte_method_value(file, nth, index, &value) == PTE_OK) read_value(&value);
    pte_method_arena(file, nth, index, below(self, 8) ? &bytes : NULL);
    pte_file_is_program(file);
    if (pte_file_data(file, below(self, pte_file_data_count(file) + 2), &value) == PTE_OK) {
        pte_value other;
        read_value(&value);
        if (pte_file_find_data(file, value.name.data, value.name.size, &other) != PTE_OK && value.name.size > 0) {
            abort();
        }
    }
    pte_file_find_tensor(file, "weight\0\xff", below(self, 9), below(self, 8) ? &value : NULL);
    self->calls += 14;
    if (below(self, 64) == 0) {
        pte_file_summary_json(file, &text, below(self, 2) ? &size : NULL);
        pte_text_free(text);
        self->calls += 2;
    }
}

static void change_options(thread_state *self, pte_options *options) {
    static const char *const texts[] = {"warnings", "paths-leaked", "0.7", "1.5", "9", "", "untrusted-upload",
                                        "portable,prim", "aten::add.out\naten::mul.out", "XnnpackBackend",
                                        "android", "\xff\xfe", "tensor-shape", NULL};
    const char *text = texts[below(self, sizeof texts / sizeof *texts)];
    switch (below(self, 11)) {
        case 0: pte_options_set_name(options, text); break;
        case 1: pte_options_set_release(options, text); break;
        case 2: pte_options_set_preset(options, text); break;
        case 3: pte_options_allow(options, text); break;
        case 4: pte_options_deny(options, text); break;
        case 5: pte_options_set_kernels(options, text); break;
        case 6: pte_options_set_backends(options, text); break;
        case 7: pte_options_set_scan(options, below(self, 2)); break;
        case 8: pte_options_set_findings_per_rule(options, (uint32_t)below(self, 200)); break;
        case 9: pte_options_set_table_limit(options, below(self, 2) ? next(self) : below(self, 4096)); break;
        default: pte_options_set_amplification(options, (uint32_t)below(self, 8));
    }
    self->calls++;
}

static void *run(void *state) {
    thread_state *self = state;
    size_t nth, size, shift;
    while (self->calls < calls_of_thread) {
        nth = below(self, OBJECTS);
        switch (below(self, 12)) {
            case 0: {
                unsigned char *block = make_bytes(self, &size, &shift);
                pte_report_free(self->reports[nth]);
                self->reports[nth] = NULL;
                pte_check(block + shift, size, below(self, 4) ? self->options[nth] : shared_options,
                          below(self, 16) ? &self->reports[nth] : NULL);
                free(block); /* A report refers to nothing of it. */
                self->calls += 2;
                break;
            }
            case 1: {
                pte_file_free(self->files[nth]);
                self->files[nth] = NULL;
                free(self->bytes[nth]);
                self->bytes[nth] = make_bytes(self, &size, &shift);
                pte_file_open(self->bytes[nth] + shift, size, self->options[nth],
                              below(self, 16) ? &self->files[nth] : NULL);
                if (below(self, 2) == 0) { /* The buffer may change after the call. */
                    memset(self->bytes[nth] + shift, (int)next(self), size);
                }
                self->calls += 2;
                break;
            }
            case 2:
                pte_options_free(self->options[nth]);
                self->options[nth] = NULL;
                pte_options_new(below(self, 16) ? &self->options[nth] : NULL);
                self->calls += 2;
                break;
            case 3: {
                unsigned char *block = make_bytes(self, &size, &shift);
                const void *data = below(self, 16) ? block + shift : NULL;
                pte_refusal refusal;
                if (pte_verify_refusal(data, size, &refusal) != pte_verify(data, size)) {
                    abort();
                }
                pte_verify_refusal(data, size, NULL);
                pte_verify(NULL, 0);
                free(block);
                self->calls += 4;
                break;
            }
            case 4:
            case 5: change_options(self, self->options[nth]); break;
            case 6: {
                size_t data = below(self, file_count);
                pte_options_add_data(self->options[nth], "data.ptd", files[data], sizes[data]);
                self->calls++;
                break;
            }
            case 7: use_report(self, self->reports[nth]); break;
            case 8: use_report(self, shared_report); break;
            case 9: use_file(self, shared_file); break;
            default: use_file(self, self->files[nth]);
        }
    }
    for (nth = 0; nth < OBJECTS; nth++) {
        pte_report_free(self->reports[nth]);
        pte_file_free(self->files[nth]);
        pte_options_free(self->options[nth]);
        free(self->bytes[nth]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    static thread_state threads[MOST_THREADS];
    pthread_t handles[MOST_THREADS];
    unsigned long count, nth, all = 0;
    if (argc < 5) {
        fprintf(stderr, "usage: chaos CALLS THREADS SEED FILE...\n");
        return 2;
    }
    count = strtoul(argv[2], NULL, 10);
    count = count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : count;
    calls_of_thread = strtoul(argv[1], NULL, 10) / count;
    for (nth = 4; nth < (unsigned long)argc && file_count < MOST_FILES; nth++) {
        FILE *in = fopen(argv[nth], "rb");
        static unsigned char bytes[1 << 20];
        size_t size;
        if (in == NULL) {
            perror(argv[nth]);
            return 2;
        }
        size = fread(bytes, 1, sizeof bytes, in);
        fclose(in);
        files[file_count] = malloc(size + (size == 0));
        memcpy(files[file_count], bytes, size);
        sizes[file_count++] = size;
    }
    pte_options_new(&shared_options);
    pte_check(files[0], sizes[0], shared_options, &shared_report);
    pte_file_open(files[0], sizes[0], NULL, &shared_file);
    for (nth = 0; nth < count; nth++) {
        threads[nth].state = strtoull(argv[3], NULL, 10) * 1000003 + nth;
        if (pthread_create(&handles[nth], NULL, run, &threads[nth]) != 0) {
            return 2;
        }
    }
    for (nth = 0; nth < count; nth++) {
        pthread_join(handles[nth], NULL);
        all += threads[nth].calls;
    }
    pte_report_free(shared_report);
    pte_file_free(shared_file);
    pte_options_free(shared_options);
    while (file_count > 0) {
        free(files[--file_count]);
    }
    printf("%lu calls on %lu threads\n", all, count);
    return 0;
}
