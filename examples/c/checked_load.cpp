// Checks the bytes of a program, and gives the same bytes to the official runtime if they pass.
//
//     c++ -std=c++17 checked_load.cpp -I$ET/include -I$ET/include/executorch/runtime/core/portable_type/c10
//         -DC10_USING_CUSTOM_GENERATED_MACROS -L$ET/lib -lexecutorch -Wl,-rpath,$ET/lib
//         $(pkg-config --cflags --libs pte) -o checked_load        # ET: the folder executorch of the wheel
//     ./checked_load model.pte
//
// Exit status: 0 loaded, 1 refused by the check, 2 refused by the runtime, 3 not readable.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "pte.h"

using executorch::extension::BufferDataLoader;
using executorch::runtime::Error;
using executorch::runtime::Program;
using executorch::runtime::Result;

// Loads a program that has no error. The loader and its bytes must stay as long as the program.
//
// The runtime's own check of the structure is not needed: the library has proven more.
static Result<Program> checked_load(BufferDataLoader &loader, const std::vector<char> &bytes) {
    pte_report *report = nullptr;
    if (pte_check(bytes.data(), bytes.size(), nullptr, &report) != PTE_OK) {
        return Error::MemoryAllocationFailed;
    }
    const bool passes = pte_report_error_count(report) == 0;
    pte_finding worst;
    if (!passes && pte_report_finding(report, 0, &worst) == PTE_OK) {
        std::printf("refused: %s: %s\n", worst.rule.data, worst.message.data);
    }
    pte_report_free(report);
    if (!passes) {
        return Error::InvalidProgram;
    }
    return Program::load(&loader, Program::Verification::Minimal);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fputs("usage: checked_load FILE\n", stderr);
        return 3;
    }
    std::ifstream in(argv[1], std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in) {
        return 3;
    }
    executorch::runtime::runtime_init();
    BufferDataLoader loader(bytes.data(), bytes.size());
    const Result<Program> program = checked_load(loader, bytes);
    if (!program.ok()) {
        return program.error() == Error::InvalidProgram ? 1 : 2;
    }
    std::printf("loaded: %zu methods\n", program->num_methods());
    return 0;
}
