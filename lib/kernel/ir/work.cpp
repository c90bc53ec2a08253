#include "kernel/ir/work.h"

#include <algorithm>

#include "kernel/ir/cost.h"

namespace calque::kernel {
namespace {

constexpr double kUnknownTrips = 100'000, kElementTrips = 16;
/// Bytes that an instruction of a copy moves.
constexpr double kCopied = 32;

double work_of(const Kernel& kernel, const Region& region) {
  double work = 0;
  for (const Instruction& i : region.instructions) {
    double inner = 0, longest = 0;
    for (const Region& r : i.regions) {
      const double of_region = work_of(kernel, r);
      inner += of_region;
      longest = std::max(longest, of_region);
    }
    switch (i.op) {
      case Op::loop:
        work += static_cast<double>(i.extent) / std::max(1U, vector_lanes(i)) * (inner + 1);
        break;
      case Op::while_:
        work += kElementTrips * inner;
        break;
      case Op::if_:
        work += longest;
        break;
      case Op::contraction: {
        const double lanes = i.cpu_tiles ? i.cpu_tiles->lanes : 1;
        const double elements = static_cast<double>(i.rows) * static_cast<double>(i.columns) / lanes;
        work += elements * (static_cast<double>(i.extent) * 2 + work_of(kernel, i.regions[2]));
        break;
      }
      default:
        work += cost_of(kernel, i).operations;
    }
  }
  return work;
}

double work_of(const Program& program, const std::vector<double>& kernels, const std::vector<Step>& steps) {
  double work = 0;
  for (const Step& step : steps) {
    double inner = 0, longest = 0;
    for (const std::vector<Step>& block : step.blocks) {
      const double of_block = work_of(program, kernels, block);
      inner += of_block;
      longest = std::max(longest, of_block);
    }
    switch (step.kind) {
      case StepKind::kernel:
        work += kernels[static_cast<size_t>(step.kernel)];
        break;
      case StepKind::copy:
        work += static_cast<double>(step.bytes) / kCopied;
        break;
      case StepKind::while_:
        work += (step.most_iterations >= 0 ? static_cast<double>(step.most_iterations) + 1 : kUnknownTrips) * inner;
        break;
      case StepKind::repeat:
        work += static_cast<double>(step.count) * inner;
        break;
      case StepKind::branch:
        work += longest;
        break;
      default:
        break;
    }
  }
  return work;
}

}  // namespace

double executed_instructions(const Program& program) {
  std::vector<double> kernels;
  for (const Kernel& k : program.kernels) kernels.push_back(work_of(k, k.body));
  return work_of(program, kernels, program.steps);
}

}  // namespace calque::kernel
