#include "kernel/lower/overlap_collectives.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "ir/values/bytes.h"
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

/// Bytes [begin, end) of memory that a step uses, in all iterations or in those of a loop with this remainder.
struct MemoryUse {
  int32_t memory = -1;
  int64_t begin = 0, end = INT64_MAX;
  bool written = false;
  int32_t loop = -1;
  int64_t period = 1, remainder = 0;

  bool conflicts(const MemoryUse& other) const {
    return memory == other.memory && (written || other.written) && begin < other.end && other.begin < end &&
           (loop != other.loop || (remainder - other.remainder) % std::gcd(period, other.period) == 0);
  }
};

bool conflict(const std::vector<MemoryUse>& a, const std::vector<MemoryUse>& b) {
  return std::any_of(a.begin(), a.end(), [&](const MemoryUse& x) {
    return std::any_of(b.begin(), b.end(), [&](const MemoryUse& y) { return x.conflicts(y); });
  });
}

class Overlap {
 public:
  explicit Overlap(Program& program) : program_(program), memory_(program.buffers.size()) {
    for (size_t b = 0; b < memory_.size(); ++b) memory_[b] = static_cast<int32_t>(b);
    // An output in the memory of a donated input.
    for (size_t b = 0; b < memory_.size(); ++b) {
      const ProgramBuffer& output = program.buffers[b];
      if (output.kind != BufferKind::output || static_cast<size_t>(output.index) >= program.in_place.size()) continue;
      const int32_t input = program.in_place[static_cast<size_t>(output.index)];
      for (size_t i = 0; i < memory_.size() && input >= 0; ++i) {
        const ProgramBuffer& other = program.buffers[i];
        if (other.kind == BufferKind::input && other.index == input) memory_[b] = memory_[i];
      }
    }
  }

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
    const std::vector<MemoryUse> call = uses(steps[at]);
    std::vector<std::vector<MemoryUse>> kept_uses;
    std::vector<size_t> moved, kept;
    double time = 0;
    const size_t end = std::min(steps.size(), at + 1 + kMostSteps);
    for (size_t i = at + 1; i < end; ++i) {
      std::vector<MemoryUse> step = uses(steps[i]);
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

  std::vector<MemoryUse> uses(const Step& step) const {
    std::vector<MemoryUse> out;
    append_uses(step, out);
    return out;
  }

  void append_uses(const Step& step, std::vector<MemoryUse>& out) const {
    for (size_t v = 0; v < step.views.size(); ++v) {
      int64_t bytes = -1;
      bool written = true;
      switch (step.kind) {
        case StepKind::kernel: {
          const Buffer& b = program_.kernels[static_cast<size_t>(step.kernel)].buffers[v];
          bytes = b.extent * static_cast<int64_t>(size_of(b.dtype));
          written = b.written;
          break;
        }
        case StepKind::copy:
          bytes = step.bytes;
          written = v == 0;
          break;
        case StepKind::host_call:
          written = v >= called(step).arguments.size();
          break;
        case StepKind::routine:
          written = v >= program_.routines[static_cast<size_t>(step.routine)].arguments.size();
          break;
        case StepKind::branch:
        case StepKind::while_:
          written = false;  // the predicate
          break;
        default:
          break;
      }
      append_uses(step.views[v], bytes, written, out);
    }
    for (const auto& block : step.blocks) {
      for (const Step& inner : block) append_uses(inner, out);
    }
  }

  void append_uses(const View& view, int64_t bytes, bool written, std::vector<MemoryUse>& out) const {
    const auto add = [&](const auto& slice, MemoryUse use = {}) {
      use.memory = memory_[static_cast<size_t>(slice.buffer)];
      use.written = written;
      if (bytes >= 0 && slice.terms.empty()) {
        use.begin = slice.offset;
        use.end = slice.offset + bytes;
      }
      out.push_back(use);
    };
    constexpr int64_t kMostRemainders = 16;
    MemoryUse turn;
    bool alternates = !view.choices.empty();
    for (const View::Choice& choice : view.choices) {
      for (const View::Condition& c : choice.conditions) {
        alternates = alternates && (turn.loop < 0 || turn.loop == c.loop);
        turn.loop = c.loop;
        turn.period = std::min(std::lcm(turn.period, c.period), kMostRemainders + 1);
      }
    }
    if (!alternates || turn.period > kMostRemainders) {
      add(view);
      for (const View::Choice& choice : view.choices) add(choice);
      return;
    }
    // Buffers in turn, by the number of the iteration.
    for (turn.remainder = 0; turn.remainder < turn.period; ++turn.remainder) {
      const auto holds = [&](const View::Condition& c) { return c.holds(turn.remainder); };
      const auto chosen = std::find_if(view.choices.begin(), view.choices.end(), [&](const View::Choice& choice) {
        return std::all_of(choice.conditions.begin(), choice.conditions.end(), holds);
      });
      chosen == view.choices.end() ? add(view, turn) : add(*chosen, turn);
    }
  }

  Program& program_;
  std::vector<int32_t> memory_;  ///< by buffer: equal for those that are one memory
};

}  // namespace

void overlap_collectives(Program& program) {
  const bool communicates = std::any_of(program.host_functions.begin(), program.host_functions.end(),
                                        [](const HostFunctionRef& f) { return f.collective.has_value(); });
  if (communicates) Overlap(program).run(program.steps);
}

}  // namespace calque::kernel
