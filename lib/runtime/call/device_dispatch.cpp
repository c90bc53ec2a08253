// All host arguments of a call are uploaded in one copy.
#include "runtime/call/device_dispatch.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "calque/detail/leaf_view.h"
#include "calque/device.h"

#include "compile/device_executable.h"
#include "ir/values/bytes.h"
#include "runtime/call/donation.h"
#include "runtime/call/function_state.h"
#include "runtime/device/collectives.h"
#include "runtime/device/device_memory.h"

namespace calque::runtime {
namespace {

using detail::LeafRef;

bool is_on_device(const LeafRef& leaf) {
  return leaf.kind == LeafRef::Kind::array && !has_host_memory(leaf.array->device());
}

size_t bytes_of(const LeafRef& leaf) { return calque::bytes_of(leaf.type()); }

/// Writes a host leaf as a row-major array.
void pack(const LeafRef& leaf, void* to) {
  const size_t bytes = bytes_of(leaf);
  if (bytes == 0) return;
  if (leaf.kind == LeafRef::Kind::scalar) {
    std::memcpy(to, leaf.bits.bytes, bytes);
  } else if (leaf.dense_rows) {
    std::memcpy(to, leaf.data, bytes);
  } else {
    const AnyArray dense = detail::copy_of(
        {leaf.dtype, leaf.data, leaf.type().shape, Shape::Dims(std::span<const int64_t>(leaf.strides(), leaf.rank))});
    std::memcpy(to, dense.data(), bytes);
  }
}

/// Assigns offsets to host leaves, one after the other in one block.
class Staging {
 public:
  /// Reserves `bytes` bytes and returns their offset.
  size_t reserve(size_t bytes) {
    constexpr size_t kAlignment = 256;
    const size_t at = size_;
    size_ = (size_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

ArrayMemory& memory_of(const AnyArray& array) { return static_cast<ArrayMemory&>(*array.storage().device_memory()); }

AnyArray uploaded_leaf(DeviceApi& api, const LeafRef& leaf, Device device) {
  const size_t bytes = bytes_of(leaf);
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(bytes);
  pack(leaf, packed.get());
  return AnyArray(leaf.type(), upload_to(api, packed.get(), bytes), device);
}

/// Downloads the inputs, runs the host executable and uploads the outputs.
void run_on_host(const Executable& host, DeviceApi& api, std::span<void* const> inputs,
                 std::span<void* const> outputs) {
  std::vector<AnyArray> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) {
    AnyArray& array = arrays.emplace_back(AnyArray::uninitialized(host.inputs[i]));
    if (array.bytes() != 0) api.download(array.mutable_data(), inputs[i], array.bytes());
  }
  std::vector<const AnyArray*> pointers;
  for (const AnyArray& array : arrays) pointers.push_back(&array);
  const primitives::RouteCollectives route(route_through(api));
  const std::vector<AnyArray> results = execute(host, pointers);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (results[i].bytes() != 0) api.upload(outputs[i], results[i].data(), results[i].bytes());
  }
}

void run(const Executable& executable, DeviceApi& api, std::span<void* const> inputs, std::span<void* const> outputs) {
  if (executable.host != nullptr) {
    run_on_host(*executable.host, api, inputs, outputs);
  } else {
    executable.device->run(inputs, outputs);
  }
}

bool computes_nothing(const Executable& executable) {
  return executable.device == nullptr && executable.host == nullptr;
}

}  // namespace

void execute_on_device(const Executable& executable, std::span<const LeafRef> leaves, std::span<const AnyArray> lifted,
                       std::span<const AnyArray> constants, std::span<const OutputSource> sources, Device device,
                       detail::OutputArrays& outputs, const DonatedBuffers& donated) {
  DeviceApi& api = device_api(device);
  std::vector<void*> inputs(leaves.size() + lifted.size(), nullptr);
  for (const auto& [leaf, memory] : donated.inputs) inputs[leaf] = memory;
  Staging staging;
  std::vector<std::pair<size_t, size_t>> staged;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (inputs[i] != nullptr || computes_nothing(executable)) continue;
    if (is_on_device(leaves[i])) {
      inputs[i] = device_address(*leaves[i].array);
    } else {
      staged.emplace_back(i, staging.reserve(bytes_of(leaves[i])));
    }
  }
  for (size_t i = 0; i < lifted.size(); ++i) inputs[leaves.size() + i] = device_address(lifted[i]);
  const ScopedMemory block(api, staging.size());
  if (staging.size() != 0) {
    const auto bytes = std::make_unique_for_overwrite<std::byte[]>(staging.size());
    for (const auto& [i, at] : staged) {
      pack(leaves[i], bytes.get() + at);
      inputs[i] = block.address() + at;
    }
    api.upload(block.address(), bytes.get(), staging.size());
  }
  std::vector<void*> results;
  outputs.reserve(sources.size());
  for (const OutputSource& source : sources) {
    switch (source.kind) {
      case OutputSource::Kind::computed: {
        const bool takes_over = source.index < donated.outputs.size() && donated.outputs[source.index];
        const AnyArray& output = outputs.emplace_back(
            executable.outputs[source.index],
            takes_over ? donated.outputs[source.index] : allocate_on(api, executable.output_bytes[source.index]),
            device);
        results.push_back(device_address(output));
        break;
      }
      case OutputSource::Kind::argument: {
        const LeafRef& leaf = leaves[source.index];
        outputs.emplace_back(is_on_device(leaf) ? *leaf.array : uploaded_leaf(api, leaf, device));
        break;
      }
      case OutputSource::Kind::constant:
        outputs.emplace_back(constants[source.index]);
        break;
    }
  }
  if (computes_nothing(executable)) return;
  run(executable, api, inputs, results);
  const std::shared_ptr<const Mark> mark = api.mark();
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].kind == OutputSource::Kind::computed) memory_of(outputs[i]).written(mark);
  }
}

std::vector<AnyArray> execute_on_device(const Executable& executable, std::span<const AnyArray* const> inputs,
                                        Device device) {
  DeviceApi& api = device_api(device);
  std::vector<AnyArray> moved;
  moved.reserve(inputs.size());
  std::vector<void*> addresses;
  for (const AnyArray* input : inputs) {
    moved.push_back(detail::copy_to_device("call", *input, device, {}));
    addresses.push_back(device_address(moved.back()));
  }
  std::vector<AnyArray> outputs;
  std::vector<void*> results;
  for (size_t i = 0; i < executable.outputs.size(); ++i) {
    outputs.emplace_back(executable.outputs[i], allocate_on(api, executable.output_bytes[i]), device);
    results.push_back(device_address(outputs.back()));
  }
  run(executable, api, addresses, results);
  const std::shared_ptr<const Mark> mark = api.mark();
  for (const AnyArray& output : outputs) memory_of(output).written(mark);
  return outputs;
}

DonatedBuffers donated_buffers_on_device(const detail::FunctionState& function, const detail::Arguments& arguments,
                                         const Executable& executable, Device device) {
  DonatedBuffers donated;
  if (executable.in_place.empty()) return donated;
  DeviceApi& api = device_api(device);
  donated.outputs.resize(executable.in_place.size());
  const auto leaves = arguments.leaves();
  for (size_t k = 0; k < executable.in_place.size(); ++k) {
    if (executable.in_place[k] < 0) continue;
    const auto i = static_cast<size_t>(executable.in_place[k]);
    const LeafRef& leaf = leaves[i];
    if (!is_on_device(leaf)) {
      donated.outputs[k] = uploaded_leaf(api, leaf, device).storage();
    } else {
      const detail::Storage& own = leaf.array->storage();
      const bool passed_again = std::any_of(leaves.begin(), leaves.end(), [&](const LeafRef& other) {
        return &other != &leaf && is_on_device(other) && other.array->storage() == own;
      });
      if (own.unique() && !passed_again) {
        donated.outputs[k] = own.hand_over(donation_of(function, arguments, i));
      } else {
        const size_t bytes = bytes_of(leaf);
        donated.outputs[k] = allocate_on(api, bytes);
        if (bytes != 0) {
          api.copy(static_cast<const ArrayMemory*>(donated.outputs[k].device_memory())->address(),
                   device_address(*leaf.array), bytes);
        }
      }
    }
    donated.inputs.emplace_back(static_cast<uint32_t>(i),
                                static_cast<const ArrayMemory*>(donated.outputs[k].device_memory())->address());
  }
  return donated;
}

}  // namespace calque::runtime

namespace calque::detail {

AnyArray communicate_on_device(std::string_view operation, const ProcessGroup& group, const CollectiveCall& call,
                               const AnyArray* operand, Device device) {
  runtime::DeviceApi& api = runtime::device_api(device, operation, call.location);
  void* const from = operand != nullptr ? runtime::device_address(*operand) : nullptr;
  if (call.kind == Collective::send || call.kind == Collective::barrier) {
    runtime::run_collective(api, group, call, from, nullptr);
    return {};
  }
  AnyArray result(call.result, runtime::allocate_on(api, bytes_of(call.result)), device);
  runtime::run_collective(api, group, call, from, runtime::device_address(result));
  runtime::memory_of(result).written(api.mark());
  return result;
}

}  // namespace calque::detail
