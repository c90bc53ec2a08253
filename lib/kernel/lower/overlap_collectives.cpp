#include "kernel/lower/overlap_collectives.h"

#include <algorithm>
#include <string>

#include "ir/values/bytes.h"
#include "kernel/ir/memory_use.h"
#include "kernel/lower/parallel_loops.h"

namespace calque::kernel {
namespace {

// Microseconds of work below which completing a call later gains nothing: of messages between two ranks, which the
// system moves by itself, and of others, which a thread carries out.
constexpr double kBesideMessages = 2, kBesideCollectives = 30;
// Smaller messages take less time than a thread that carries them out.
constexpr size_t kFewestBytes = 1 << 14;
// Steps after a call that are looked at.
constexpr size_t kMostSteps = 64;

class Overlap {
 public:
  explicit Overlap(Program& program) : program_(program), uses_(program) {}

  void run(std::vector<Step>& steps) {
    for (Step& step : steps) {
      for (auto& block : step.blocks) run(block);
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      if (may_overlap(steps[i])) i = overlap(steps, i);
    }
  }

 private:
  const HostFunctionRef& called(const Step& step) const {
    return program_.host_functions[static_cast<size_t>(step.host_function)];
  }

  bool may_overlap(const Step& step) const {
    if (step.kind != StepKind::host_call) return false;
    const HostFunctionRef& f = called(step);
    return f.collective && f.phase == CallPhase::whole && !f.arguments.empty() && !f.results.empty();
  }

  /// Splits the call at `at` if that pays. Returns the position of the call.
  size_t overlap(std::vector<Step>& steps, size_t at) {
    const std::vector<MemoryUse> call = uses_.of(steps[at]);
    std::vector<std::vector<MemoryUse>> kept_uses;
    std::vector<size_t> moved, kept;
    double time = 0;
    const size_t end = std::min(steps.size(), at + 1 + kMostSteps);
    for (size_t i = at + 1; i < end; ++i) {
      std::vector<MemoryUse> step = uses_.of(steps[i]);
      const bool stays =
          conflict(step, call) || (calls(steps[i]) && !kept.empty()) ||
          std::any_of(kept_uses.begin(), kept_uses.end(), [&](const auto& k) { return conflict(step, k); });
      if (stays) {
        kept.push_back(i);
        kept_uses.push_back(std::move(step));
      } else {
        moved.push_back(i);
        time += estimated_time(program_, {steps[i]});
      }
    }
    const HostFunctionRef whole = called(steps[at]);
    const bool between_two = whole.collective->kind == Collective::send_receive;
    const size_t bytes = bytes_of(whole.arguments[0]);
    if (time < (between_two ? kBesideMessages : kBesideCollectives) || (!between_two && bytes < kFewestBytes)) {
      if (bytes >= kFewestBytes || between_two) note(whole, steps, kept, time);
      return at;
    }
    std::vector<Step> order;
    const auto phase = [&](CallPhase p) {
      Step step = steps[at];
      HostFunctionRef f = whole;
      f.phase = p;
      step.host_function = static_cast<int32_t>(program_.host_functions.size());
      program_.host_functions.push_back(std::move(f));
      order.push_back(std::move(step));
    };
    // The start keeps the number of the call.
    program_.host_functions[static_cast<size_t>(steps[at].host_function)].phase = CallPhase::start;
    order.push_back(steps[at]);
    for (const size_t i : moved) order.push_back(std::move(steps[i]));
    phase(CallPhase::finish);
    for (const size_t i : kept) order.push_back(std::move(steps[i]));
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at), steps.begin() + static_cast<std::ptrdiff_t>(end));
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(order.begin()),
                 std::make_move_iterator(order.end()));
    return at;
  }

  void note(const HostFunctionRef& whole, const std::vector<Step>& steps, const std::vector<size_t>& kept,
            double time) {
    std::string text =
        whole.primitive + " of " + to_string(whole.arguments[0]) + where_text(whole.location) + " is awaited at once: ";
    if (kept.empty()) {
      text += "nothing follows that could run beside it";
    } else {
      const Step& user = steps[kept.front()];
      text += (user.kind == StepKind::kernel ? program_.kernels[static_cast<size_t>(user.kernel)].name
                                             : std::string("the next step")) +
              " needs its result or its operand's memory, and ";
      text += time > 0 ? "what does not is too little work" : "all that follows depends on that";
    }
    program_.awaited.push_back(std::move(text));
  }

  /// Whether a step, or one inside it, calls into C++.
  static bool calls(const Step& step) {
    if (step.kind == StepKind::host_call) return true;
    return std::any_of(step.blocks.begin(), step.blocks.end(),
                       [](const auto& block) { return std::any_of(block.begin(), block.end(), &calls); });
  }

  Program& program_;
  const MemoryUses uses_;
};

}  // namespace

void overlap_collectives(Program& program) {
  const bool communicates = std::any_of(program.host_functions.begin(), program.host_functions.end(),
                                        [](const HostFunctionRef& f) { return f.collective.has_value(); });
  if (communicates) Overlap(program).run(program.steps);
}

}  // namespace calque::kernel
