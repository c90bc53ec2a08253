// Buffers of loop carries: the memory of the final value, or double buffering of that and a spare buffer.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ir/values/bytes.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/merge_buffers.h"
#include "kernel/buffers/workspace.h"

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
      for (const Carry& c : steps[at].carries) enclosing_.insert({c.before, c.next});
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
    const std::vector<int32_t> partners = swap(loop);
    const std::vector<bool> merged = merge(loop, partners);
    for (size_t i = loop.carries.size(); i-- > 0;)
      if (!merged[i] && partners[i] < 0 && loop.carries[i].updates) copy_before_update(loop, loop.carries[i]);
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
        if (partners[i] >= 0) {
          const Carry& other = loop.carries[static_cast<size_t>(partners[i])];
          const bool in_results = counted && may_swap_results(steps, at, c, other);
          const View own = in_results ? c.result : whole(c.spare),
                     others = in_results ? other.result : whole(other.spare);
          before = double_buffered(own, others, loop.loop_id, phase);
          first[c.before] = counted && loop.count % 2 == 1 ? others : own;
          if (!in_results) last_.emplace_back(c.result, counted ? own : before);
          redirected.emplace(c.before, std::move(before));
          continue;
        }
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

  /// Whether two carries may swap the memory of their results: views of these must not change when an enclosing loop is
  /// assigned, and no initial value may be in one of them where the loop begins with the other.
  bool may_swap_results(const std::vector<Step>& steps, size_t at, const Carry& a, const Carry& b) const {
    for (const View* v : {&a.result, &b.result})
      if (!v->choices.empty() || enclosing_.contains(v->buffer)) return false;
    if (steps[at].count % 2 == 0) return true;
    return std::none_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(at), [&](const Step& s) {
      return s.kind == StepKind::copy && (s.views[0].buffer == a.before || s.views[0].buffer == b.before);
    });
  }

  /// By carry: the one with which it swaps memory after each iteration, or -1. Where the next value of that one cannot
  /// be computed in the memory of the carry, the carry gets memory of its own, and a copy.
  std::vector<int32_t> swap(Step& loop) {
    std::vector<int32_t> partners(loop.carries.size(), -1);
    std::vector<Step>& body = loop.blocks.back();
    std::vector<Step> copies;
    {
      BufferMerger merger(p_, body);
      for (size_t i = 0; i < partners.size(); ++i) {
        Carry& c = loop.carries[i];
        if (c.from < 0) continue;
        const auto j = static_cast<size_t>(c.from);
        Carry& other = loop.carries[j];
        if (other.from == static_cast<int32_t>(i) || merger.merge(c.before, other.next)) {
          other.next = c.before;
          partners[i] = static_cast<int32_t>(j);
          partners[j] = static_cast<int32_t>(i);
          continue;
        }
        const int32_t source = c.next;
        c.from = -1;
        c.next = add_workspace(p_, p_.buffers[static_cast<size_t>(c.before)].type);
        Step& step = copies.emplace_back();
        step.kind = StepKind::copy;
        step.views = {whole(c.next), whole(source)};
        step.bytes = static_cast<int64_t>(bytes_of(p_.buffers[static_cast<size_t>(c.before)].type));
        if (!c.remark.empty()) step.array_copies.push_back({step.views[0], step.views[1], c.remark});
      }
    }
    body.insert(body.end(), std::make_move_iterator(copies.begin()), std::make_move_iterator(copies.end()));
    return partners;
  }

  /// The body reads a carry after its update: the update is made in a copy.
  void copy_before_update(Step& loop, const Carry& carry) {
    Step step;
    step.kind = StepKind::copy;
    step.views = {whole(carry.next), whole(carry.before)};
    step.bytes = static_cast<int64_t>(bytes_of(p_.buffers[static_cast<size_t>(carry.before)].type));
    if (!carry.remark.empty()) step.array_copies.push_back({step.views[0], step.views[1], carry.remark});
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
  std::vector<bool> merge(Step& loop, const std::vector<int32_t>& partners) {
    std::vector<bool> merged;
    BufferMerger merger(p_, loop.blocks.back());
    for (size_t i = 0; i < partners.size(); ++i) {
      const Carry& c = loop.carries[i];
      if (c.before != c.next && !c.updates && partners[i] < 0) merge_copies(merger, loop, c);
    }
    for (size_t i = 0; i < partners.size(); ++i) {
      const Carry& c = loop.carries[i];
      merged.push_back(partners[i] < 0 && (c.before == c.next || merger.merge(c.before, c.next)));
    }
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
    const auto redirect = [&](View& v) {
      if (const auto target = first.find(v.buffer); target != first.end()) v = target->second;
    };
    while (at > 0 && stores(steps[at - 1])) {
      --at;
      for (View& v : steps[at].views) redirect(v);
      for (ArrayCopy& c : steps[at].array_copies) {
        redirect(c.to);
        redirect(c.from);
      }
      if (steps[at].kind != StepKind::copy || steps[at].views[0] != steps[at].views[1]) continue;
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
      ++removed;
    }
    return removed;
  }

  /// The number of iterations of a while decides which buffer has the final value. Carries that swap spare buffers end
  /// in these.
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
  std::unordered_set<int32_t> enclosing_;    ///< buffers of the carries of enclosing loops
  std::vector<std::pair<View, View>> last_;  ///< a result and the view that has it after the loop
};

}  // namespace

void alias_carries(Program& program) { CarryAliasing(program).visit(program.steps); }

}  // namespace calque::kernel
