// Loads the methods of a program with the official runtime, and prints what they take of each pool, as JSON lines.
//
//     pools [--temp BYTES | --no-temp] [--data FILE.ptd] [--library LIBRARY.so …] [--run] FILE.pte < names
//     pools --sizes
//
// tests/tools/pools.py builds it. `names` has a line `op NAME` or `backend ID` for each operator and backend of the
// program: those that no library registers get a kernel that does nothing, or a backend that allocates nothing.
// So what remains is what the runtime takes, exactly. `--run` executes each method with zeros, to see what kernels take.
// `--temp` is the size of the temporary allocator.

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#ifdef FROM_SOURCE
// The structures of this file have no header. The build leaves the file itself out.
#include <executorch/runtime/executor/method.cpp>
#endif
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/executor/memory_manager.h>
#if __has_include(<executorch/runtime/executor/merged_data_map.h>)
#include <executorch/runtime/executor/merged_data_map.h>
#endif
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/platform_memory_allocator.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::runtime;
using executorch::extension::FileDataLoader;
using executorch::extension::FlatTensorDataMap;

// A pool that counts how far it was ever filled.
class Pool final : public MemoryAllocator {
 public:
  explicit Pool(uint32_t size) : Pool(size, aligned(size)) {}

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    void* start = MemoryAllocator::allocate(size, alignment);
    if (start != nullptr) {
      size_t end = static_cast<uint8_t*>(start) - base_ + size;
      most = end > most ? end : most;
    }
    return start;
  }

  size_t most = 0;

 private:
  Pool(uint32_t size, uint8_t* base) : MemoryAllocator(size, base), base_(base) {}

  static uint8_t* aligned(uint32_t size) {
    void* base = nullptr;
    // The alignment that the runners of firmware give their pools.
    if (posix_memalign(&base, 16, size) != 0) {
      exit(2);
    }
    return static_cast<uint8_t*>(base);
  }

  uint8_t* const base_;
};

// A backend that allocates nothing.
class Nothing final : public BackendInterface {
 public:
  bool is_available() const override {
    return true;
  }
  Result<DelegateHandle*> init(
      BackendInitContext&,
      FreeableBuffer*,
      ArrayRef<CompileSpec>) const override {
    return static_cast<DelegateHandle*>(nullptr);
  }
  // One of these overrides the release's.
  Error execute(BackendExecutionContext&, DelegateHandle*, EValue**) const {
    return Error::Ok;
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const {
    return Error::Ok;
  }
};

// Registers what the libraries do not.
static void register_missing() {
  static std::deque<std::string> names;
  static Nothing nothing;
  std::string line;
  while (std::getline(std::cin, line)) {
    names.push_back(line.substr(line.find(' ') + 1));
    const char* name = names.back().c_str();
    if (line.rfind("backend ", 0) == 0) {
      if (get_backend_class(name) == nullptr) {
        (void)register_backend({name, &nothing});
      }
    } else if (!registry_has_op_function(name)) {
      (void)register_kernel(Kernel(name, [](auto&, auto) {}));
    }
  }
}

// Gives a method zeros, and runs it.
static Error run(Method& method, std::deque<std::vector<uint8_t>>& memory, std::deque<executorch::aten::TensorImpl>& tensors) {
  for (size_t i = 0; i < method.inputs_size(); ++i) {
    EValue input = method.get_input(i);
    if (input.isTensor()) {
      auto& of = input.toTensor();
      memory.emplace_back(of.nbytes() + 1);
      tensors.emplace_back(
          of.scalar_type(),
          of.dim(),
          const_cast<executorch::aten::SizesType*>(of.sizes().data()),
          memory.back().data(),
          const_cast<executorch::aten::DimOrderType*>(of.dim_order().data()),
          const_cast<executorch::aten::StridesType*>(of.strides().data()));
      input = EValue(executorch::aten::Tensor(&tensors.back()));
    }
    Error error = method.set_input(input, i);
    if (error != Error::Ok) {
      return error;
    }
  }
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    const EValue& output = method.get_output(i);
    if (output.isTensor() && output.toTensor().const_data_ptr() == nullptr) {
      memory.emplace_back(output.toTensor().nbytes() + 1);
      (void)method.set_output_data_ptr(memory.back().data(), output.toTensor().nbytes(), i);
    }
  }
  return method.execute();
}

#define SIZE(TYPE) printf("{\"type\": \"%s\", \"size\": %zu, \"align\": %zu}\n", #TYPE, sizeof(TYPE), alignof(TYPE))

static void sizes() {
  using executorch::aten::Tensor;
  SIZE(EValue);
  SIZE(executorch::aten::TensorImpl);
  SIZE(Tensor);
  SIZE(std::optional<Tensor>);
  SIZE(BoxedEvalueList<int64_t>);
  SIZE(BoxedEvalueList<Tensor>);
  SIZE(BoxedEvalueList<std::optional<Tensor>>);
  SIZE(executorch::aten::ArrayRef<char>);
  SIZE(int64_t);
  SIZE(executorch::aten::SizesType);
  SIZE(executorch::aten::StridesType);
  SIZE(executorch::aten::DimOrderType);
  SIZE(FreeableBuffer);
  SIZE(CompileSpec);
  SIZE(TensorMeta);
  SIZE(OpFunction);
  SIZE(InstructionArgs);
#if __has_include(<executorch/runtime/executor/merged_data_map.h>)
  SIZE(internal::MergedDataMap);
#endif
  SIZE(internal::PlatformMemoryAllocator);
#ifdef FROM_SOURCE
  SIZE(deserialization::NamedData);
  SIZE(BackendDelegate);
  SIZE(Chain);
#endif
}

int main(int count, char** arguments) {
  runtime_init();
  const char *file = nullptr, *data = nullptr;
  bool is_run = false, has_temp = true;
  uint32_t temp_size = 64 << 20;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument == "--sizes") {
      sizes();
      return 0;
    } else if (argument == "--run") {
      is_run = true;
    } else if (argument == "--no-temp") {
      has_temp = false;
    } else if (argument == "--temp" && i + 1 < count) {
      temp_size = static_cast<uint32_t>(atoll(arguments[++i]));
    } else if (argument == "--data" && i + 1 < count) {
      data = arguments[++i];
    } else if (argument == "--library" && i + 1 < count) {
      if (dlopen(arguments[++i], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
      }
    } else {
      file = arguments[i];
    }
  }
  register_missing();
  auto loader = FileDataLoader::from(file);
  if (!loader.ok()) {
    return 2;
  }
  auto program = Program::load(&loader.get());
  if (!program.ok()) {
    printf("{\"error\": %d}\n", static_cast<int>(program.error()));
    return 1;
  }
  std::unique_ptr<FileDataLoader> data_loader;
  std::unique_ptr<FlatTensorDataMap> map;
  if (data != nullptr) {
    auto from = FileDataLoader::from(data);
    data_loader = std::make_unique<FileDataLoader>(std::move(from.get()));
    auto loaded = FlatTensorDataMap::load(data_loader.get());
    map = std::make_unique<FlatTensorDataMap>(std::move(loaded.get()));
  }
  for (size_t i = 0; i < program->num_methods(); ++i) {
    const char* name = program->get_method_name(i).get();
    auto meta = program->method_meta(name);
    std::deque<std::vector<uint8_t>> memory;
    std::vector<Span<uint8_t>> planned;
    for (size_t j = 0; meta.ok() && j < meta->num_memory_planned_buffers(); ++j) {
      size_t size = static_cast<size_t>(meta->memory_planned_buffer_size(j).get());
      // An empty buffer has an address too.
      memory.emplace_back(size + 1);
      planned.push_back({memory.back().data(), size});
    }
    HierarchicalAllocator buffers({planned.data(), planned.size()});
    Pool pool(64 << 20), temp(temp_size);
    std::deque<executorch::aten::TensorImpl> tensors;
    MemoryManager manager(&pool, &buffers, has_temp ? &temp : nullptr);
    auto method = program->load_method(name, &manager, nullptr, map.get());
    if (!method.ok()) {
      printf("{\"method\": %zu, \"error\": %d}\n", i, static_cast<int>(method.error()));
      continue;
    }
    size_t at_load = temp.most;
    int error = 0;
    if (is_run) {
      error = static_cast<int>(run(method.get(), memory, tensors));
    }
    printf(
        "{\"method\": %zu, \"bytes\": %zu, \"temp_load\": %zu, \"temp\": %zu, \"run\": %d}\n",
        i,
        pool.most,
        at_load,
        temp.most,
        error);
    fflush(stdout);
  }
  return 0;
}
