// Reads every file of a folder and verifies it as a program, one after the other.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "program_generated.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  size_t count = 0;
  bool is_valid = true;
  std::vector<uint8_t> bytes;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    int file = open(entry.path().c_str(), O_RDONLY);
    struct stat metadata;
    if (file < 0 || fstat(file, &metadata) != 0) return 2;
    bytes.resize(metadata.st_size);
    if (read(file, bytes.data(), bytes.size()) != metadata.st_size) return 2;
    close(file);
    flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 64, 1000000000);
    is_valid &= executorch_flatbuffer::VerifyProgramBuffer(verifier);
    count++;
  }
  std::printf("%zu files %s\n", count, is_valid ? "are valid" : "are not all valid");
  return is_valid ? 0 : 1;
}
