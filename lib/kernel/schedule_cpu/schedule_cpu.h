#pragma once
// Schedules the kernels of a program for a CPU: the decisions that depend on its vectors and registers. The passes
// change attributes alone, so a program that is scheduled again gets the attributes of the second target.
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/pass_log.h"
#include "kernel/ir/program.h"
#include "kernel/schedule_cpu/target_limits.h"
#include "kernel/schedule_cpu/vector_loops.h"

namespace calque::kernel {

struct CpuPass {
  PassInfo info;
  void (*run)(const CpuKernel& kernel) = nullptr;
};

/// In order.
std::span<const CpuPass> cpu_passes();
/// Null if there is none of that name.
const CpuPass* find_cpu_pass(std::string_view name);
/// Runs one pass over a kernel whose buffers do not overlap.
void run_cpu_pass(const CpuPass& pass, Kernel& kernel, const TargetLimits& target);
/// Schedules the kernels of a program, which must outlive it, pass by pass.
class CpuSchedule {
 public:
  CpuSchedule(Program& program, const TargetLimits& target);
  /// The first pass of the list removes the attributes of an earlier schedule.
  void run(const CpuPass& pass);

 private:
  /// What the passes read of a kernel. They change attributes, on which none of it depends.
  struct Facts {
    std::unique_ptr<const KernelAnalysis> analysis;
    std::vector<bool> overlaps;
  };
  Program& program_;
  TargetLimits target_;
  std::vector<Facts> facts_;
};

}  // namespace calque::kernel
