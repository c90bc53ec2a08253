#include "kernel/schedule/passes.h"

#include <array>
#include <string>

#include "kernel/schedule/fuse_loops.h"
#include "kernel/schedule/reuse_reduction_values.h"
#include "kernel/schedule/schedule.h"
#include "kernel/schedule/split_loops.h"
#include "kernel/schedule/threads.h"
#include "kernel/schedule/unroll_loops.h"
#include "transform/simplify/passes.h"

namespace calque::kernel {
namespace {

constexpr unsigned kPointwise = static_cast<unsigned>(KernelOrigin::pointwise);
constexpr unsigned kComputing = kPointwise | static_cast<unsigned>(KernelOrigin::anchor_op);
constexpr unsigned kAll = kComputing | static_cast<unsigned>(KernelOrigin::copy);

using Views = std::vector<View>;

constexpr std::array kPasses = {
    KernelPass{{"unroll-loops", "unrolls reductions of a few elements and loops of a few iterations around long ones"},
               kComputing,
               [](Kernel& k, const Views&) { unroll_loops(k); }},
    KernelPass{{"fuse-loops", "fuses loops of the same extent, when one of them reduces"}, kPointwise, &fuse_loops},
    KernelPass{{"split-loops", "index-set splitting: one loop for each range in which comparisons have fixed results"},
               kAll,
               [](Kernel& k, const Views&) { split_loops(k); }},
    KernelPass{{"vectorize", "marks the loops that run in vectors and counts bytes and operations"},
               kAll,
               [](Kernel& k, const Views&) { vectorize_loops(k); }},
    KernelPass{{"reuse-reduction-values", "stores values that a reduction computes and a later loop would recompute"},
               kAll,
               [](Kernel& k, const Views&) { reuse_reduction_values(k); }},
    KernelPass{{"split-over-threads", "marks the loops that run on several threads"},
               kAll,
               [](Kernel& k, const Views&) { split_over_threads(k); }},
};

}  // namespace

std::span<const KernelPass> kernel_passes() { return kPasses; }

const KernelPass& find_kernel_pass(std::string_view name) {
  std::string names;
  for (const KernelPass& pass : kPasses) {
    if (pass.info.name == name) return pass;
    names += (names.empty() ? "" : ", ") + std::string(pass.info.name);
  }
  throw CompileError("passes: there is no kernel pass " + std::string(name) + ", expected one of " + names);
}

namespace {

void run_over_kernels(const KernelPass& pass, Program& program, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    for (const auto& block : step.blocks) run_over_kernels(pass, program, block);
    if (step.kind != StepKind::kernel) continue;
    Kernel& kernel = program.kernels[static_cast<size_t>(step.kernel)];
    if ((pass.origins & static_cast<unsigned>(kernel.origin)) == 0) continue;
    pass.run(kernel, step.views);
    if (transform::verification_enabled()) verify(kernel);
  }
}

}  // namespace

void run_over_kernels(const KernelPass& pass, Program& program) { run_over_kernels(pass, program, program.steps); }

}  // namespace calque::kernel
