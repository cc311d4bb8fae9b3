// Checks files before they are loaded, in C++17: handles that free themselves, and exceptions.
//
//     c++ -std=c++17 check.cpp $(pkg-config --cflags --libs pte) -o check
//     ./check model.pte
//
// Exit status: 0 no error, 1 an error or a broken file, 3 not readable.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pte.h"

namespace {

struct Free {
    void operator()(pte_report *report) const { pte_report_free(report); }
    void operator()(pte_file *file) const { pte_file_free(file); }
};
using Report = std::unique_ptr<pte_report, Free>;
using File = std::unique_ptr<pte_file, Free>;

void require(pte_status status) {
    if (status != PTE_OK) {
        throw std::runtime_error(pte_status_message(status));
    }
}

std::string_view view(const pte_text &text) { return {text.data, text.size}; }

// A file that has passed the check. Its bytes stay as long as its views.
class CheckedFile {
public:
    explicit CheckedFile(std::vector<char> contents) : bytes(std::move(contents)) {
        pte_report *report = nullptr;
        require(pte_check(bytes.data(), bytes.size(), nullptr, &report));
        const Report owned(report);
        if (pte_report_error_count(report) != 0) {
            pte_finding worst{};
            require(pte_report_finding(report, 0, &worst));
            throw std::invalid_argument(std::string(view(worst.rule)) + ": " + worst.message.data);
        }
        pte_file *opened = nullptr;
        require(pte_file_open(bytes.data(), bytes.size(), nullptr, &opened));
        file.reset(opened);
    }

    std::size_t methods() const { return pte_file_method_count(file.get()); }

    // What the runtime is given: `Program::load` of a `BufferDataLoader` over these bytes.
    const std::vector<char> &contents() const { return bytes; }

private:
    std::vector<char> bytes;
    File file;
};

}  // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fputs("usage: check FILE\n", stderr);
        return 2;
    }
    std::ifstream in(argv[1], std::ios::binary);
    if (!in) {
        std::perror(argv[1]);
        return 3;
    }
    try {
        const CheckedFile file({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
        std::printf("%s: ok, %zu methods in %zu bytes\n", argv[1], file.methods(), file.contents().size());
        return 0;
    } catch (const std::exception &error) {
        std::printf("%s: %s\n", argv[1], error.what());
        return 1;
    }
}
