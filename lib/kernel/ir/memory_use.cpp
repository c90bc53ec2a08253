#include "kernel/ir/memory_use.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "ir/values/bytes.h"

namespace calque::kernel {

bool MemoryUse::conflicts(const MemoryUse& other) const {
  return memory == other.memory && (written || other.written) && begin < other.end && other.begin < end &&
         (loop != other.loop || (remainder - other.remainder) % std::gcd(period, other.period) == 0);
}

bool conflict(const std::vector<MemoryUse>& a, const std::vector<MemoryUse>& b) {
  return std::any_of(a.begin(), a.end(), [&](const MemoryUse& x) {
    return std::any_of(b.begin(), b.end(), [&](const MemoryUse& y) { return x.conflicts(y); });
  });
}

MemoryUses::MemoryUses(const Program& program, bool has_offsets) : program_(program) {
  const std::vector<ProgramBuffer>& buffers = program.buffers;
  int32_t workspace = -1;
  for (size_t b = 0; b < buffers.size(); ++b) {
    Origin origin{static_cast<int32_t>(b), 0};
    // What is private to a loop has other memory in each of its iterations.
    if (has_offsets && buffers[b].kind == BufferKind::workspace && buffers[b].private_to < 0) {
      if (workspace < 0) workspace = origin.memory;
      origin = {workspace, buffers[b].offset};
    }
    memory_.push_back(origin);
  }
  if (program.in_place.empty()) return;
  // An output in the memory of a donated input.
  std::unordered_map<int32_t, size_t> inputs;
  for (size_t b = 0; b < buffers.size(); ++b)
    if (buffers[b].kind == BufferKind::input) inputs.emplace(buffers[b].index, b);
  for (size_t b = 0; b < buffers.size(); ++b) {
    const ProgramBuffer& output = buffers[b];
    if (output.kind != BufferKind::output || static_cast<size_t>(output.index) >= program.in_place.size()) continue;
    const auto input = inputs.find(program.in_place[static_cast<size_t>(output.index)]);
    if (input != inputs.end()) memory_[b] = memory_[input->second];
  }
}

std::vector<MemoryUse> MemoryUses::of(const Step& step) const {
  std::vector<MemoryUse> out;
  append(step, out);
  return out;
}

void MemoryUses::append(const Step& step, std::vector<MemoryUse>& out) const {
  const auto append_call = [&](const auto& f) {
    for (size_t v = 0; v < step.views.size(); ++v) {
      const bool written = v >= f.arguments.size();
      const Type& type = written ? f.results[v - f.arguments.size()] : f.arguments[v];
      append(step.views[v], static_cast<int64_t>(bytes_of(type)), written, out);
    }
  };
  switch (step.kind) {
    case StepKind::host_call:
      append_call(program_.host_functions[static_cast<size_t>(step.host_function)]);
      break;
    case StepKind::routine:
      append_call(program_.routines[static_cast<size_t>(step.routine)]);
      break;
    default:
      for (size_t v = 0; v < step.views.size(); ++v) {
        int64_t bytes = -1;
        bool written = true;
        if (step.kind == StepKind::kernel) {
          const Buffer& b = program_.kernels[static_cast<size_t>(step.kernel)].buffers[v];
          bytes = b.extent * static_cast<int64_t>(size_of(b.dtype));
          written = b.written;
        } else if (step.kind == StepKind::copy) {
          bytes = step.bytes;
          written = v == 0;
        } else if (step.kind == StepKind::branch || step.kind == StepKind::while_) {
          written = false;  // the predicate
        }
        append(step.views[v], bytes, written, out);
      }
  }
  for (const auto& block : step.blocks) {
    for (const Step& inner : block) append(inner, out);
  }
}

void MemoryUses::append(const View& view, int64_t bytes, bool written, std::vector<MemoryUse>& out) const {
  const auto add = [&](const auto& slice, MemoryUse use = {}) {
    const Origin& origin = memory_[static_cast<size_t>(slice.buffer)];
    const ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(slice.buffer)];
    use.memory = origin.memory;
    use.written = written;
    if (bytes >= 0 && slice.terms.empty()) {
      use.begin = origin.offset + slice.offset;
      use.end = use.begin + bytes;
    } else if (buffer.kind == BufferKind::workspace) {
      use.begin = origin.offset;
      use.end = origin.offset + static_cast<int64_t>(bytes_of(buffer.type));
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

std::string_view PendingCalls::pass(const Step& step) {
  CallPhase phase = CallPhase::whole;
  if (step.kind == StepKind::host_call) phase = program_.host_functions[static_cast<size_t>(step.host_function)].phase;
  if (calls_.empty() && phase == CallPhase::whole) return {};
  if (phase == CallPhase::finish) {
    const auto call =
        std::find_if(calls_.begin(), calls_.end(), [&](const Call& c) { return c.start->views == step.views; });
    if (call == calls_.end()) return "a call is completed that was not started before it";
    calls_.erase(call);
  }
  std::vector<MemoryUse> uses = uses_.of(step);
  if (std::any_of(calls_.begin(), calls_.end(), [&](const Call& c) { return conflict(c.uses, uses); }))
    return "the memory of a call that was started is used before it is completed";
  if (phase == CallPhase::start) calls_.push_back({&step, std::move(uses)});
  return {};
}

}  // namespace calque::kernel
