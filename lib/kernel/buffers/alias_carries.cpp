// Buffers of loop carries: the memory of the final value, or double buffering of that and a spare buffer.
#include <algorithm>
#include <utility>

#include "ir/values/bytes.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/merge_buffers.h"

namespace calque::kernel {

namespace {

View whole(int32_t buffer) { return {buffer, 0, {}, {}}; }

/// Whether the steps use the buffer as a whole alone: not a slice of it, nor in turn with another.
bool is_used_whole(const std::vector<Step>& steps, int32_t buffer) {
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
    return std::all_of(step.views.begin(), step.views.end(),
                       [&](const View& v) {
                         const bool in_turn = std::any_of(v.choices.begin(), v.choices.end(),
                                                          [&](const View::Choice& c) { return c.buffer == buffer; });
                         return !in_turn && (v.buffer != buffer || v == whole(buffer));
                       }) &&
           std::all_of(step.blocks.begin(), step.blocks.end(),
                       [&](const std::vector<Step>& block) { return is_used_whole(block, buffer); });
  });
}

class CarryAliasing {
 public:
  explicit CarryAliasing(Program& program) : p_(program) {}

  /// Assigns the buffers of all loops in the steps.
  void visit(std::vector<Step>& steps) {
    for (size_t at = 0; at < steps.size(); ++at) {
      for (auto& block : steps[at].blocks) visit(block);
      if (steps[at].carries.empty()) continue;
      at -= assign(steps, at);
      std::vector<Step> after = final_copies(steps[at]);
      steps[at].carries.clear();
      const size_t copies = after.size();
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::make_move_iterator(after.begin()),
                   std::make_move_iterator(after.end()));
      at += copies;
    }
  }

 private:
  /// The buffers of the loop at this position. Returns how many steps before it were removed.
  size_t assign(std::vector<Step>& steps, size_t at) {
    Step& loop = steps[at];
    const std::vector<bool> merged = merge(loop);
    for (size_t i = loop.carries.size(); i-- > 0;)
      if (!merged[i] && loop.carries[i].updates) copy_before_update(loop, loop.carries[i]);
    if (!loop.sums.empty() && std::find(merged.begin(), merged.end(), false) != merged.end()) {
      loop.sums.clear();
      loop.views.clear();
    }
    const bool counted = loop.kind == StepKind::repeat;
    last_.clear();
    std::unordered_map<int32_t, View> first, redirected;
    for (size_t i = 0; i < merged.size(); ++i) {
      const Carry& c = loop.carries[i];
      View before = c.result;
      first.emplace(c.before, c.result);
      if (!merged[i]) {
        // The last iteration of a counted loop writes to the result.
        const int64_t phase = !counted ? 0 : loop.reverse ? 1 : loop.count % 2;
        if (loop.loop_id < 0) loop.loop_id = p_.num_loops++;
        before = double_buffered(c.result, whole(c.spare), loop.loop_id, phase);
        redirected.emplace(c.next, double_buffered(c.result, whole(c.spare), loop.loop_id, phase + 1));
        if (counted && loop.count % 2 == 1) first[c.before] = whole(c.spare);
        if (!counted) last_.emplace_back(c.result, before);
      }
      redirected.emplace(c.before, std::move(before));
    }
    for (auto& block : loop.blocks) redirect_views(block, redirected);
    return redirect_initial(steps, at, first);
  }

  /// The body reads a carry after its update: the update is made in a copy.
  void copy_before_update(Step& loop, const Carry& carry) {
    Step step;
    step.kind = StepKind::copy;
    step.views = {whole(carry.next), whole(carry.before)};
    step.bytes = static_cast<int64_t>(bytes_of(p_.buffers[static_cast<size_t>(carry.before)].type));
    std::vector<Step>& body = loop.blocks.back();
    body.insert(body.begin(), std::move(step));
  }

  /// Copies of a carry that the body makes, for a loop inside it to write to, take over the carry's memory where
  /// nothing reads it later; so do copies of these. Not of a carry of which only the changed elements are written: the
  /// others are read by what follows.
  void merge_copies(BufferMerger& merger, const Step& loop, const Carry& carry) const {
    const Type& type = p_.buffers[static_cast<size_t>(carry.before)].type;
    std::vector<int32_t> tried{carry.before, carry.next};
    for (const Carry& c : loop.carries) tried.insert(tried.end(), {c.before, c.next, c.spare});
    const auto next_copy = [&]() -> int32_t {
      for (const Step& step : loop.blocks.back()) {
        if (step.kind != StepKind::kernel) continue;
        const Kernel& kernel = p_.kernels[static_cast<size_t>(step.kernel)];
        const auto reads = [&](size_t i) { return step.views[i] == whole(carry.before) && !kernel.buffers[i].written; };
        bool reads_carry = false;
        for (size_t i = 0; i < step.views.size(); ++i) reads_carry = reads_carry || reads(i);
        if (kernel.origin != KernelOrigin::copy || !reads_carry) continue;
        for (size_t i = 0; i < step.views.size(); ++i) {
          const int32_t to = step.views[i].buffer;
          const ProgramBuffer& buffer = p_.buffers[static_cast<size_t>(to)];
          if (kernel.buffers[i].written && step.views[i] == whole(to) && buffer.kind == BufferKind::workspace &&
              buffer.type == type && std::find(tried.begin(), tried.end(), to) == tried.end() &&
              is_used_whole(loop.blocks.back(), to))
            return to;
        }
      }
      return -1;
    };
    for (int32_t copy = next_copy(); copy >= 0; copy = next_copy()) {
      tried.push_back(copy);
      merger.merge(carry.before, copy);
    }
  }

  /// By carry: whether its next value overwrites the previous one.
  std::vector<bool> merge(Step& loop) {
    std::vector<bool> merged;
    BufferMerger merger(p_, loop.blocks.back());
    for (const Carry& c : loop.carries)
      if (c.before != c.next && !c.updates) merge_copies(merger, loop, c);
    for (const Carry& c : loop.carries) merged.push_back(c.before == c.next || merger.merge(c.before, c.next));
    return merged;
  }

  /// The kernels and copies before the loop store the initial values. Copies of an initial value to its own memory are
  /// removed.
  static size_t redirect_initial(std::vector<Step>& steps, size_t at, const std::unordered_map<int32_t, View>& first) {
    const auto stores = [&](const Step& s) {
      return (s.kind == StepKind::kernel || s.kind == StepKind::copy) &&
             std::any_of(s.views.begin(), s.views.end(), [&](const View& v) { return first.count(v.buffer) != 0; });
    };
    size_t removed = 0;
    while (at > 0 && stores(steps[at - 1])) {
      --at;
      for (View& v : steps[at].views)
        if (const auto target = first.find(v.buffer); target != first.end()) v = target->second;
      if (steps[at].kind != StepKind::copy || steps[at].views[0] != steps[at].views[1]) continue;
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
      ++removed;
    }
    return removed;
  }

  /// The number of iterations of a while decides which buffer has the final value.
  std::vector<Step> final_copies(const Step& loop) {
    std::vector<Step> copies;
    for (auto& [to, from] : last_) {
      Step& step = copies.emplace_back();
      step.kind = StepKind::copy;
      step.views = {to, from};
      const auto same = [&, &to = to](const Carry& c) { return c.result == to; };
      const Carry& carry = *std::find_if(loop.carries.begin(), loop.carries.end(), same);
      step.bytes = static_cast<int64_t>(bytes_of(p_.buffers[static_cast<size_t>(carry.before)].type));
    }
    return copies;
  }

  Program& p_;
  std::vector<std::pair<View, View>> last_;  ///< of a while: the result and the view that has it after the loop
};

}  // namespace

void alias_carries(Program& program) { CarryAliasing(program).visit(program.steps); }

}  // namespace calque::kernel
