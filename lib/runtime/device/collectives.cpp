#include "runtime/device/collectives.h"

#include "calque/ir/any_array.h"

#include "ir/values/bytes.h"
#include "primitives/control/collectives.h"
#include "primitives/control/effects.h"
#include "runtime/device/device_memory.h"

namespace calque::runtime {
namespace {

bool has_operand(Collective kind) { return kind != Collective::receive && kind != Collective::barrier; }
bool has_result(Collective kind) { return kind != Collective::send && kind != Collective::barrier; }

AnyArray fetched(DeviceApi& api, const Type& type, const void* from) {
  AnyArray array = AnyArray::uninitialized(type);
  if (array.bytes() != 0) api.download(array.mutable_data(), from, array.bytes());
  return array;
}

void put(DeviceApi& api, const AnyArray& array, void* to) {
  if (array.bytes() != 0) api.upload(to, array.data(), array.bytes());
}

void communicate(DeviceApi& api, const ProcessGroup& group, const CollectiveCall& call, const void* operand,
                 void* result) {
  if (DeviceQueue* const queue = api.queue(); queue != nullptr && group.submit(call, operand, result, *queue)) return;
  AnyArray x, y;
  if (has_operand(call.kind)) x = fetched(api, call.operand, operand);
  if (has_result(call.kind)) y = AnyArray::uninitialized(call.result);
  group.run(call, has_operand(call.kind) ? x.data() : nullptr, has_result(call.kind) ? y.mutable_data() : nullptr);
  if (has_result(call.kind)) put(api, y, result);
}

}  // namespace

void run_collective(DeviceApi& api, const Opaque& group, const CollectiveCall& call, const void* operand,
                    void* result) {
  const ProcessGroup& processes = primitives::processes_of(group, call);
  if (!primitives::EffectLog::is_running()) return communicate(api, processes, call, operand, result);
  // The result is kept for runs that follow.
  bool runs = false;
  const std::vector<AnyArray> kept = primitives::EffectLog::once([&] {
    runs = true;
    communicate(api, processes, call, operand, result);
    std::vector<AnyArray> out;
    if (has_result(call.kind)) out.push_back(fetched(api, call.result, result));
    return out;
  });
  if (!runs && has_result(call.kind)) put(api, kept[0], result);
}

primitives::RouteCollectives::Route route_through(DeviceApi& api) {
  DeviceQueue* const queue = api.queue();
  if (queue == nullptr) return nullptr;
  return [&api, queue](const ProcessGroup& group, const CollectiveCall& call, const void* operand, void* result) {
    const size_t operand_bytes = has_operand(call.kind) ? bytes_of(call.operand) : 0;
    const size_t result_bytes = has_result(call.kind) ? bytes_of(call.result) : 0;
    const ScopedMemory x(api, operand_bytes), y(api, result_bytes);
    if (operand_bytes != 0) api.upload(x.address(), operand, operand_bytes);
    if (!group.submit(call, x.address(), y.address(), *queue)) return group.run(call, operand, result);
    if (result_bytes != 0) api.download(result, y.address(), result_bytes);
  };
}

}  // namespace calque::runtime
