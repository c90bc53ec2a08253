// The warm path: pointers go to a block on the stack, then one native call. Outputs are allocated before the call,
// so nothing inside it allocates; a callback's exception is stored in the context until the entry returns.
#include "runtime/call/dispatch.h"

#include <cstring>

#include "calque/device.h"
#include "calque/ir/errors.h"

#include "primitives/control/collectives.h"
#include "primitives/control/effects.h"
#include "runtime/call/device_dispatch.h"
#include "runtime/device/device_api.h"
#include "runtime/memory/workspace.h"
#include "runtime/process/parallel.h"
#include "runtime/routines/routines.h"

namespace calque::runtime {
namespace {

AnyArray array_at(const Type& type, const void* data) {
  AnyArray copy = AnyArray::uninitialized(type);
  if (copy.bytes() != 0) std::memcpy(copy.mutable_data(), data, copy.bytes());
  return copy;
}

/// Arguments are copied, since a host function may retain its arrays.
int32_t host_call(void* context, int32_t index, void* const* pointers) noexcept {
  auto& call = *static_cast<Context*>(context);
  try {
    const kernel::HostFunctionRef& f = call.executable->host_functions[static_cast<size_t>(index)];
    if (f.collective) {
      const void* const operand = f.arguments.empty() ? nullptr : *pointers;
      void* const result = f.results.empty() ? nullptr : pointers[f.arguments.size()];
      switch (f.phase) {
        case kernel::CallPhase::whole:
          primitives::run_collective(*f.function, *f.collective, operand, result);
          break;
        case kernel::CallPhase::start:
          primitives::start_collective(*f.function, *f.collective, operand, result);
          break;
        case kernel::CallPhase::finish:
          primitives::finish_collective(result);
          break;
      }
      return 0;
    }
    std::vector<AnyArray> arguments;
    arguments.reserve(f.arguments.size());
    for (const Type& type : f.arguments) arguments.push_back(array_at(type, *pointers++));
    if (f.function == nullptr) {  // debug_print
      primitives::write_debug_line(
          primitives::format_arrays(f.equation_attributes.get<std::string>("format"), arguments));
      return 0;
    }
    const std::vector<AnyArray> results = primitives::call_host_function(*f.function, arguments, f.results);
    for (const AnyArray& result : results) {
      if (result.bytes() != 0) std::memcpy(*pointers, result.data(), result.bytes());
      ++pointers;
    }
    return 0;
  } catch (...) {
    call.exception = std::current_exception();
    return 1;
  }
}

int32_t routine(void* context, int32_t index, void* const* pointers) noexcept {
  auto& call = *static_cast<Context*>(context);
  try {
    run_routine(call.executable->routines[static_cast<size_t>(index)], pointers);
    return 0;
  } catch (...) {
    call.exception = std::current_exception();
    return 1;
  }
}

[[noreturn, gnu::cold]] void rethrow(const Context& context) {
  primitives::abandon_collectives();
  if (context.exception) std::rethrow_exception(context.exception);
  if (context.header.failed != 0) throw OutOfMemory("memory of a thread", static_cast<size_t>(context.header.failed));
  throw CompileError("call: generated code reported a failure without an exception");
}

constinit const codegen::RuntimeTable kRuntimeTable{
    codegen::RuntimeTable{}.version, &host_call, &parallel_for, &scratch, &num_threads, &private_memory, &routine};

AnyArray leaf_array(const detail::LeafRef& leaf) {
  const Type type = leaf.type();
  switch (leaf.kind) {
    case detail::LeafRef::Kind::array:
      // The caller's own memory may change after the call.
      return leaf.array->storage().owned() ? *leaf.array : array_at(type, leaf.data);
    case detail::LeafRef::Kind::view:
      return detail::copy_of(
          {leaf.dtype, leaf.data, type.shape, Shape::Dims(std::span<const int64_t>(leaf.strides(), leaf.rank))});
    default:
      return array_at(type, leaf.bits.bytes);
  }
}

}  // namespace

const codegen::RuntimeTable& runtime_table() { return kRuntimeTable; }

namespace {

[[gnu::always_inline]] inline void run_entry_inline(const Executable& executable, Block& block) {
  for (const void* constant : executable.constants) block.push_back(const_cast<void*>(constant));
  const Workspace workspace(executable.workspace_bytes);
  block.push_back(workspace.data());
  Context context{{&kRuntimeTable}, &executable, nullptr};
  if (executable.entry.load(std::memory_order_acquire)(&context, block.data()) != 0) [[unlikely]]
    rethrow(context);
}

}  // namespace

void run_entry(const Executable& executable, Block& block) { run_entry_inline(executable, block); }

namespace {

/// Host memory: appends the inputs and outputs of a call to the block.
void append_arguments(const Executable& executable, std::span<const detail::LeafRef> leaves,
                      std::span<const AnyArray> lifted, std::span<const AnyArray> constants,
                      std::span<const OutputSource> sources, Device device, detail::OutputArrays& outputs,
                      const DonatedBuffers& donated, Block& block) {
  for (const detail::LeafRef& leaf : leaves) {
    const bool scalar = leaf.kind == detail::LeafRef::Kind::scalar;
    block.push_back(const_cast<void*>(scalar ? static_cast<const void*>(leaf.bits.bytes) : leaf.data));
  }
  for (const auto& [leaf, memory] : donated.inputs) block[leaf] = memory;
  for (const AnyArray& array : lifted) block.push_back(const_cast<void*>(array.data()));
  outputs.reserve(sources.size());
  for (const OutputSource& source : sources) {
    switch (source.kind) {
      case OutputSource::Kind::computed: {
        const bool takes_over = source.index < donated.outputs.size() && donated.outputs[source.index];
        AnyArray& output =
            outputs.emplace_back(executable.outputs[source.index],
                                 takes_over ? donated.outputs[source.index]
                                            : detail::Storage::allocate(executable.output_bytes[source.index]),
                                 device);
        block.push_back(output.mutable_data());
        break;
      }
      case OutputSource::Kind::argument:
        outputs.emplace_back(leaf_array(leaves[source.index]));
        break;
      case OutputSource::Kind::constant:
        outputs.emplace_back(constants[source.index]);
        break;
    }
  }
}

}  // namespace

void execute(const Executable& executable, std::span<const detail::LeafRef> leaves, std::span<const AnyArray> lifted,
             std::span<const AnyArray> constants, std::span<const OutputSource> sources, Device device,
             detail::OutputArrays& outputs, const DonatedBuffers& donated) {
  if (!has_host_memory(device)) [[unlikely]]
    return execute_on_device(executable, leaves, lifted, constants, sources, device, outputs, donated);
  Block block;
  append_arguments(executable, leaves, lifted, constants, sources, device, outputs, donated, block);
  if (executable.entry != nullptr) run_entry(executable, block);
}

void execute_with_status(const Executable& executable, std::span<const detail::LeafRef> leaves,
                         std::span<const AnyArray> lifted, std::span<const AnyArray> constants,
                         std::span<const OutputSource> sources, Device device, detail::OutputArrays& outputs,
                         std::span<void* const> status) {
  if (has_host_memory(device)) {
    Block block;
    append_arguments(executable, leaves, lifted, constants, sources, device, outputs, {}, block);
    for (void* const number : status) block.push_back(number);
    if (executable.entry != nullptr) run_entry(executable, block);
    return;
  }
  std::vector<OutputSource> all(sources.begin(), sources.end());
  for (size_t k = executable.outputs.size() - status.size(); k < executable.outputs.size(); ++k) {
    all.push_back({OutputSource::Kind::computed, static_cast<uint32_t>(k)});
  }
  detail::OutputArrays results;
  execute_on_device(executable, leaves, lifted, constants, all, device, results, {});
  outputs.reserve(sources.size());
  for (size_t k = 0; k < sources.size(); ++k) outputs.emplace_back(std::move(results[k]));
  for (size_t k = 0; k < status.size(); ++k) {
    const AnyArray number = detail::copy_to_device("call", results[sources.size() + k], cpu(), {});
    std::memcpy(status[k], number.data(), number.bytes());
  }
}

void execute_directly(const Executable& executable, Block& block, std::span<const AnyArray> lifted, Device device,
                      detail::OutputArrays& outputs) {
  for (const AnyArray& array : lifted) block.push_back(const_cast<void*>(array.data()));
  const size_t count = executable.outputs.size();
  outputs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    AnyArray& output =
        outputs.emplace_back(executable.outputs[i], detail::Storage::allocate(executable.output_bytes[i]), device);
    block.push_back(output.mutable_data());
  }
  run_entry_inline(executable, block);
}

AnyArray execute_directly_for_one(const Executable& executable, Block& block, std::span<const AnyArray> lifted,
                                  Device device) {
  for (const AnyArray& array : lifted) block.push_back(const_cast<void*>(array.data()));
  detail::Storage storage = detail::Storage::allocate(executable.output_bytes.front());
  block.push_back(storage.data());
  run_entry_inline(executable, block);
  return {executable.outputs.front(), std::move(storage), device};
}

std::vector<AnyArray> execute(const Executable& executable, std::span<const AnyArray* const> inputs, Device device) {
  if (!has_host_memory(device)) return execute_on_device(executable, inputs, device);
  Block block;
  for (const AnyArray* input : inputs) block.push_back(const_cast<void*>(input->data()));
  std::vector<AnyArray> outputs;
  outputs.reserve(executable.outputs.size());
  for (const Type& type : executable.outputs) {
    outputs.push_back(AnyArray::uninitialized(type));
    block.push_back(outputs.back().mutable_data());
  }
  run_entry(executable, block);
  return outputs;
}

}  // namespace calque::runtime
