#include "calque/ir/collectives.h"

#include <array>

namespace calque {

CollectiveGroup::~CollectiveGroup() = default;
ProcessGroup::~ProcessGroup() = default;
MappedAxis::~MappedAxis() = default;
ProcessGroup::Pending::~Pending() = default;
DeviceQueue::~DeviceQueue() = default;

std::unique_ptr<ProcessGroup::Pending> ProcessGroup::start(const CollectiveCall& call, const void* operand,
                                                           void* result) const {
  run(call, operand, result);
  return nullptr;
}

bool ProcessGroup::submit(const CollectiveCall&, const void*, void*, DeviceQueue&) const { return false; }

std::string_view to_string(ReduceOp op) {
  static constexpr std::array<std::string_view, 6> kNames{"sum", "prod", "max", "min", "all", "any"};
  return kNames[static_cast<size_t>(op)];
}

std::string_view to_string(Collective kind) {
  static constexpr std::array<std::string_view, 13> kNames{
      "all_reduce",     "collective_reduce", "collective_broadcast",
      "all_gather",     "collective_gather", "collective_scatter",
      "reduce_scatter", "all_to_all",        "send_receive",
      "send",           "receive",           "collective_scan",
      "barrier"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace calque
