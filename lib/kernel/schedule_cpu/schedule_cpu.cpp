#include "kernel/schedule_cpu/schedule_cpu.h"

#include <array>

#include "kernel/buffers/call_sites.h"
#include "kernel/schedule_cpu/cpu_tiles.h"

namespace calque::kernel {
namespace {

constexpr std::array kCpuPasses = {
    CpuPass{{"choose-tiles", "chooses the tiles of matrix products in registers and caches, and what is packed"},
            [](const CpuKernel& k) { choose_cpu_tiles(k.kernel, k.target); }},
    CpuPass{{"choose-lanes", "chooses the lanes of vectorised loops"}, &choose_lanes},
    CpuPass{{"mark-non-temporal-stores", "marks stores to large results, which bypass the caches"},
            &mark_non_temporal_stores},
    CpuPass{{"choose-unrolling", "chooses unroll factors, tails without masks, and tiles of columns"},
            &choose_unrolling},
};

// Attributes of an earlier schedule.
void clear(Region& region) {
  for (Instruction& i : region.instructions) {
    i.lanes = 0;
    i.unroll = 0;
    i.overlapping_tail = i.non_temporal = false;
    i.column_tile = 0;
    i.cpu_tiles = nullptr;
    for (Region& inner : i.regions) clear(inner);
  }
}

}  // namespace

std::span<const CpuPass> cpu_passes() { return kCpuPasses; }

const CpuPass* find_cpu_pass(std::string_view name) {
  for (const CpuPass& pass : kCpuPasses)
    if (pass.info.name == name) return &pass;
  return nullptr;
}

void run_cpu_pass(const CpuPass& pass, Kernel& kernel, const TargetLimits& target) {
  const KernelAnalysis analysis(kernel);
  const std::vector<bool> overlaps(kernel.buffers.size());
  pass.run({kernel, analysis, overlaps, target});
}

CpuSchedule::CpuSchedule(Program& program, const TargetLimits& target) : program_(program), target_(target) {
  const CallSites calls(program);
  facts_.reserve(program.kernels.size());
  for (size_t n = 0; n < program.kernels.size(); ++n)
    facts_.push_back({std::make_unique<const KernelAnalysis>(program.kernels[n]), calls.overlaps(n)});
}

void CpuSchedule::run(const CpuPass& pass) {
  for (size_t n = 0; n < facts_.size(); ++n) {
    Kernel& kernel = program_.kernels[n];
    if (&pass == &kCpuPasses.front()) clear(kernel.body);
    pass.run({kernel, *facts_[n].analysis, facts_[n].overlaps, target_});
  }
}

}  // namespace calque::kernel
