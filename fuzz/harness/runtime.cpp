// A fuzz target around ExecuTorch's loaders, for libFuzzer and AFL++: docs/fuzzing.md.
//
// A program is loaded, and each of its methods; a data file is loaded, and each of its entries. Nothing is
// executed. With -DREPLAY, the program loads the files that the command line names.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

// Minimal is what most applications use. InternalConsistency is upstream's choice for untrusted files.
#ifndef VERIFICATION
#define VERIFICATION InternalConsistency
#endif

namespace {

using executorch::extension::BufferDataLoader;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::MallocMemoryAllocator;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Program;
using executorch::runtime::Span;

// Files that plan more memory are skipped: they only end the fuzzer.
constexpr int64_t kMostMemory = 64 << 20;

void load_method(const Program& program, const char* name) {
  auto meta = program.method_meta(name);
  if (!meta.ok()) {
    return;
  }
  int64_t total = 0;
  std::vector<std::unique_ptr<uint8_t[]>> arenas;
  std::vector<Span<uint8_t>> spans;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    auto size = meta->memory_planned_buffer_size(i);
    if (!size.ok() || *size < 0 || *size > kMostMemory - total) {
      return;
    }
    total += *size;
    arenas.push_back(std::make_unique<uint8_t[]>(static_cast<size_t>(*size)));
    spans.emplace_back(arenas.back().get(), static_cast<size_t>(*size));
  }
  HierarchicalAllocator planned({spans.data(), spans.size()});
  MallocMemoryAllocator own;
  MallocMemoryAllocator temporary;
  MemoryManager memory(&own, &planned, &temporary);
  auto method = program.load_method(name, &memory);
  (void)method.ok();
}

void load_program(BufferDataLoader& loader) {
  auto program = Program::load(&loader, Program::Verification::VERIFICATION);
  if (!program.ok()) {
    return;
  }
  for (size_t i = 0; i < program->num_methods(); ++i) {
    auto name = program->get_method_name(i);
    if (name.ok()) {
      load_method(*program, *name);
    }
  }
}

void load_data(BufferDataLoader& loader) {
  auto map = FlatTensorDataMap::load(&loader);
  if (!map.ok()) {
    return;
  }
  auto count = map->get_num_keys();
  for (uint32_t i = 0; count.ok() && i < *count; ++i) {
    auto key = map->get_key(i);
    if (!key.ok()) {
      continue;
    }
    auto data = map->get_data(*key);
    (void)data.ok();
#ifdef LAYOUTS
    // Asking for the layout of a blob reads through a null pointer, and every sound file with one would crash.
    auto layout = map->get_tensor_layout(*key);
    (void)layout.ok();
#endif
  }
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  executorch::runtime::runtime_init();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Loaders require an alignment that the fuzzer's buffers do not have. Rounding up keeps the end of a
  // file that is a multiple of 64 at the end of its allocation, where a sanitizer sees reads past it.
  const size_t room = (size + 63) / 64 * 64;
  std::unique_ptr<uint8_t, decltype(&std::free)> copy(
      static_cast<uint8_t*>(std::aligned_alloc(64, room == 0 ? 64 : room)), &std::free);
  if (copy == nullptr) {
    return 0;
  }
  if (size > 0) {
    std::memcpy(copy.get(), data, size);
  }
  BufferDataLoader loader(copy.get(), size);
  const bool is_data = size >= 8 &&
      (std::memcmp(data + 4, "FT01", 4) == 0 || std::memcmp(data, "FH01", 4) == 0);
  if (is_data) {
    load_data(loader);
  } else {
    load_program(loader);
  }
  return 0;
}

#ifdef REPLAY
#include <fstream>
#include <iterator>

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  return 0;
}
#endif
