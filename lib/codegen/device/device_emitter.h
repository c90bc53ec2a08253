#pragma once
// Emits one function of device code for a kernel that is scheduled for a GPU. KernelEmitter emits the code of one
// thread: scalar, or 16-byte vectors in loops marked so. DeviceLoops maps iterations to the threads of a ThreadGroup.
#include "codegen/device/device_loops.h"
#include "codegen/device/device_memory.h"
#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"

namespace calque::codegen {

/// A kernel's function in a module, and its launch configuration.
struct DeviceKernel {
  llvm::Function* function = nullptr;
  int64_t blocks = 1;
  int32_t threads = 1;       ///< in a block
  int32_t shared_bytes = 0;  ///< shared memory of a block
};

class DeviceEmitter final : private TargetEmitter {
 public:
  /// `name`: of the function.
  DeviceEmitter(const EmissionContext& context, const kernel::Kernel& kernel, std::vector<bool> overlaps,
                std::string name)
      : k_(context, kernel, std::move(overlaps), {}, *this), group_(k_, kernel.launch), name_(std::move(name)) {}
  DeviceKernel emit();

 private:
  Reg load(const kernel::Instruction& i) override { return memory_.load(i); }
  void store(const kernel::Instruction& i) override { memory_.store(i); }
  void loop(const kernel::Instruction& i) override { loops_.emit(i); }
  void contraction(const kernel::Instruction& i) override { loops_.contraction(i); }
  /// The partial of a chunk of a cumulative loop keeps its sign: -0 + x is x for every x, +0 + -0 is not -0.
  double empty_sum() const override { return -0.0; }

  KernelEmitter k_;
  ThreadGroup group_;
  DeviceMemory memory_{k_, group_};
  DeviceLoops loops_{k_, group_, memory_};
  std::string name_;
};

}  // namespace calque::codegen
