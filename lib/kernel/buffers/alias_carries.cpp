// Buffers of loop carries: the memory of the final value, that and a spare buffer in turn, or in turn those of carries
// that take each other's value.
#include <algorithm>
#include <numeric>
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

  /// Assigns the buffers of all loops in the steps. `loop`: the one whose body the steps are, if any; `is_alone`: no
  /// other list of steps, but that loop, uses the workspace buffers that these write.
  void visit(std::vector<Step>& steps, Step* loop = nullptr, bool is_alone = true) {
    for (size_t at = 0; at < steps.size(); ++at) {
      Step& step = steps[at];
      for (std::vector<Step>& block : step.blocks) {
        const bool is_body = !step.carries.empty() && &block == &step.blocks.back();
        visit(block, is_body ? &step : nullptr, is_body);
      }
      if (step.carries.empty()) continue;
      at -= assign(steps, at, loop, is_alone);
      std::vector<Step> after = final_copies();
      steps[at].carries.clear();
      const size_t copies = after.size();
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::make_move_iterator(after.begin()),
                   std::make_move_iterator(after.end()));
      at += copies;
    }
  }

 private:
  /// Carries that take turns in as many buffers, or in one more, the spare one: in each iteration every carry has the
  /// buffer that the next one of the list had in the iteration before.
  struct Rotation {
    std::vector<size_t> carries;
    bool has_spare = false;
    size_t num_buffers() const { return carries.size() + (has_spare ? 1 : 0); }
  };
  /// More buffers would be chosen from at too great length.
  static constexpr size_t kMostBuffers = 8;
  /// Longer cycles of loops without a count rotate through spare buffers.
  static constexpr size_t kMostInOrder = 3;

  /// The buffers of the loop at this position. Returns how many steps before it were removed.
  size_t assign(std::vector<Step>& steps, size_t at, Step* enclosing, bool may_rename) {
    Step& loop = steps[at];
    std::vector<Rotation> rotations = rotations_of(loop);
    std::vector<bool> rotates(loop.carries.size(), false);
    for (const Rotation& r : rotations)
      for (const size_t i : r.carries) rotates[i] = true;
    const std::vector<bool> merged = merge(loop, rotates);
    for (size_t i = loop.carries.size(); i-- > 0;)
      if (!merged[i] && !rotates[i] && loop.carries[i].updates) copy_before_update(loop, loop.carries[i]);
    if (!loop.sums.empty() && std::find(merged.begin(), merged.end(), false) != merged.end()) {
      loop.sums.clear();
      loop.views.clear();
    }
    for (size_t i = 0; i < merged.size(); ++i)
      if (!merged[i] && !rotates[i]) rotations.push_back({{i}, true});
    last_.clear();
    std::unordered_map<int32_t, View> first, redirected;
    for (size_t i = 0; i < merged.size(); ++i) {
      if (!merged[i]) continue;
      const Carry& c = loop.carries[i];
      first.emplace(c.before, c.result);
      redirected.emplace(c.before, c.result);
    }
    for (const Rotation& r : rotations) rotate(steps, at, r, enclosing, may_rename, first, redirected);
    for (auto& block : loop.blocks) redirect_views(block, redirected);
    return redirect_initial(steps, at, first);
  }

  /// The remainder, by the number of buffers, of the iteration number in iterations of which `left` are left, with this
  /// one. Loops without a count count from the first iteration.
  static int64_t number_with_left(const Step& loop, int64_t left, int64_t period) {
    const int64_t number = loop.kind != StepKind::repeat ? -left : loop.reverse ? left - 1 : loop.count - left;
    return (number % period + period) % period;
  }

  /// The memory of the carry at a position of a rotation, `before` iterations before: the last iteration leaves it in
  /// its own.
  static View in_turn(const Step& loop, const std::vector<View>& memory, size_t position, int64_t before) {
    const auto period = static_cast<int64_t>(memory.size());
    const size_t own = position % memory.size();
    View view = memory[own];
    std::vector<View::Choice> choices;
    for (int64_t n = 1; n < period; ++n) {
      const View& other = memory[(own + memory.size() - static_cast<size_t>(n)) % memory.size()];
      const View::Condition when{loop.loop_id, period, number_with_left(loop, n + before, period)};
      choices.push_back({{when}, other.buffer, other.offset, other.terms});
    }
    view.choices.insert(view.choices.begin(), choices.begin(), choices.end());
    return view;
  }

  /// Gives the carries of a rotation their buffers: those of the results where the loop has a count, unless an initial
  /// value is where another carry begins.
  void rotate(std::vector<Step>& steps, size_t at, const Rotation& r, Step* enclosing, bool may_rename,
              std::unordered_map<int32_t, View>& first, std::unordered_map<int32_t, View>& redirected) {
    Step& loop = steps[at];
    const bool counted = loop.kind == StepKind::repeat;
    const size_t n = r.carries.size(), period = r.num_buffers();
    const size_t shift = counted ? static_cast<size_t>(loop.count % static_cast<int64_t>(period)) : 0;
    if (loop.loop_id < 0) loop.loop_id = p_.num_loops++;
    const auto carry = [&](size_t position) -> Carry& { return loop.carries[r.carries[position]]; };
    const bool is_put_in_order = !counted && n > 1 && !r.has_spare && n <= kMostInOrder;
    bool in_results = n == 1 || counted || is_put_in_order;
    if (n > 1 && shift != 0 && has_initial_in_result(steps, at, r))
      in_results = may_rename && !r.has_spare && rename_results(steps, at, r, shift, enclosing);
    std::vector<View> memory;
    for (size_t q = 0; q < n; ++q) memory.push_back(in_results ? carry(q).result : whole(carry(q).spare));
    if (r.has_spare)
      memory.push_back(whole(in_results ? carry(n - 1).spare
                                        : add_workspace(p_, p_.buffers[static_cast<size_t>(carry(0).before)].type)));
    for (size_t q = 0; q < n; ++q) {
      const Carry& c = carry(q);
      View before = in_turn(loop, memory, q, 0);
      first.insert_or_assign(c.before, memory[(q + period - shift) % period]);
      if (!is_put_in_order && (!in_results || !counted)) add_last(c.result, counted ? memory[q] : before, c);
      redirected.insert_or_assign(c.before, std::move(before));
    }
    if (r.has_spare) redirected.insert_or_assign(carry(n - 1).next, in_turn(loop, memory, n - 1, 1));
    if (is_put_in_order) put_in_order(loop, memory, carry(0));
  }

  /// After the last iteration of a loop without a count: copies that permute the memory of a cycle, by the remainder of
  /// the number of iterations. The others of them copy from an array to itself.
  void put_in_order(const Step& loop, const std::vector<View>& memory, const Carry& carry) {
    const size_t n = memory.size();
    const View spare = whole(carry.spare);
    for (size_t r = 1; r < n; ++r) {
      const auto copy = [&](const View& to, const View& from) {
        View chosen = to;
        chosen.choices.push_back(
            {{{loop.loop_id, static_cast<int64_t>(n), static_cast<int64_t>(r)}}, from.buffer, from.offset, from.terms});
        add_last(to, chosen, carry);
      };
      for (size_t first = 0; first < std::gcd(n, r); ++first) {
        copy(spare, memory[first]);
        size_t at = first;
        for (size_t next = (at + r) % n; next != first; at = std::exchange(next, (next + r) % n))
          copy(memory[at], memory[next]);
        copy(memory[at], spare);
      }
    }
  }
  void add_last(const View& to, const View& from, const Carry& carry) {
    last_.push_back({to, from, static_cast<int64_t>(bytes_of(p_.buffers[static_cast<size_t>(carry.before)].type))});
  }

  /// Whether the initial value of a carry of the rotation is in the memory of its result.
  static bool has_initial_in_result(const std::vector<Step>& steps, size_t at, const Rotation& r) {
    return std::any_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(at), [&](const Step& s) {
      return s.kind == StepKind::copy && std::any_of(r.carries.begin(), r.carries.end(), [&](size_t i) {
               return s.views[0].buffer == steps[at].carries[i].before;
             });
    });
  }

  /// Where each carry begins in the memory of its result, the results stay where the last iteration leaves them: the
  /// steps after the loop, and the carries of the enclosing loop, find them there. False if the memory is not the
  /// workspace.
  bool rename_results(std::vector<Step>& steps, size_t at, const Rotation& r, size_t shift, Step* enclosing) {
    Step& loop = steps[at];
    std::unordered_map<int32_t, int32_t> renamed;
    for (size_t q = 0; q < r.carries.size(); ++q) {
      const View &from = loop.carries[r.carries[q]].result,
                 &to = loop.carries[r.carries[(q + shift) % r.carries.size()]].result;
      if (from != whole(from.buffer) || p_.buffers[static_cast<size_t>(from.buffer)].kind != BufferKind::workspace)
        return false;
      if (!renamed.emplace(from.buffer, to.buffer).second) return false;
    }
    const auto rename = [&](int32_t& buffer) {
      if (const auto found = renamed.find(buffer); found != renamed.end()) buffer = found->second;
    };
    for (const size_t i : r.carries) rename(loop.carries[i].result.buffer);
    const auto next = steps.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    std::vector<Step> after(std::make_move_iterator(next), std::make_move_iterator(steps.end()));
    for_each_view(after, [&](View& v) {
      rename(v.buffer);
      for (View::Choice& c : v.choices) rename(c.buffer);
    });
    rename_carries(after, rename);
    std::move(after.begin(), after.end(), next);
    if (enclosing == nullptr) return true;
    std::vector<Carry>& outer = enclosing->carries;
    for (Carry& c : outer) {
      if (renamed.find(c.next) == renamed.end()) continue;
      rename(c.next);
      const auto source = std::find_if(outer.begin(), outer.end(), [&](const Carry& o) { return o.before == c.next; });
      const bool is_other = source != outer.end() && &*source != &c;
      c.from = is_other ? static_cast<int32_t>(source - outer.begin()) : -1;
    }
    return true;
  }
  template <class Rename>
  static void rename_carries(std::vector<Step>& steps, const Rename& rename) {
    for (Step& s : steps) {
      for (Carry& c : s.carries) rename(c.result.buffer);
      for (auto& block : s.blocks) rename_carries(block, rename);
    }
  }

  /// Carries whose next value is in the memory of another one. The first one of a list that does not end where it
  /// begins leaves its memory to the next value of the last one if that can be computed in it.
  std::vector<Rotation> rotations_of(Step& loop) {
    std::vector<Carry>& carries = loop.carries;
    std::vector<Rotation> rotations;
    std::vector<Step>& body = loop.blocks.back();
    std::vector<Step> copies;
    {
      BufferMerger merger(p_, body);
      std::vector<bool> is_taken(carries.size(), false), seen(carries.size(), false);
      for (const Carry& c : carries)
        if (c.from >= 0) is_taken[static_cast<size_t>(c.from)] = true;
      const auto add = [&](size_t first) {
        Rotation r;
        for (size_t i = first; !seen[i]; i = static_cast<size_t>(carries[i].from)) {
          seen[i] = true;
          r.carries.push_back(i);
          if (carries[i].from < 0) break;
        }
        Carry &start = carries[first], &last = carries[r.carries.back()];
        r.has_spare = last.from < 0;
        const bool may_merge = r.has_spare && !last.updates && r.carries.size() <= kMostBuffers;
        if (may_merge && merger.merge(start.before, last.next)) {
          last.next = start.before;
          r.has_spare = false;
        }
        if (r.num_buffers() <= kMostBuffers && !last.updates) {
          rotations.push_back(std::move(r));
        } else {
          for (const size_t i : r.carries)
            if (carries[i].from >= 0) copies.push_back(copy_at_end(carries[i]));
        }
      };
      for (size_t i = 0; i < carries.size(); ++i)
        if (carries[i].from >= 0 && !is_taken[i]) add(i);
      for (size_t i = 0; i < carries.size(); ++i)
        if (carries[i].from >= 0 && !seen[i]) add(i);
    }
    body.insert(body.end(), std::make_move_iterator(copies.begin()), std::make_move_iterator(copies.end()));
    return rotations;
  }
  /// The next value of the carry gets memory of its own.
  Step copy_at_end(Carry& c) {
    const int32_t source = c.next;
    c.from = -1;
    c.next = add_workspace(p_, p_.buffers[static_cast<size_t>(c.before)].type);
    Step step;
    step.kind = StepKind::copy;
    step.views = {whole(c.next), whole(source)};
    step.bytes = static_cast<int64_t>(bytes_of(p_.buffers[static_cast<size_t>(c.before)].type));
    if (!c.remark.empty()) step.array_copies.push_back({step.views[0], step.views[1], c.remark});
    return step;
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
  std::vector<bool> merge(Step& loop, const std::vector<bool>& rotates) {
    std::vector<bool> merged;
    BufferMerger merger(p_, loop.blocks.back());
    for (size_t i = 0; i < rotates.size(); ++i) {
      const Carry& c = loop.carries[i];
      if (c.before != c.next && !c.updates && !rotates[i]) merge_copies(merger, loop, c);
    }
    for (size_t i = 0; i < rotates.size(); ++i) {
      const Carry& c = loop.carries[i];
      merged.push_back(!rotates[i] && (c.before == c.next || merger.merge(c.before, c.next)));
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

  /// The number of iterations of a while decides which buffer has the final value. Carries that rotate through spare
  /// buffers end in these.
  std::vector<Step> final_copies() {
    std::vector<Step> copies;
    for (FinalCopy& c : last_) {
      Step& step = copies.emplace_back();
      step.kind = StepKind::copy;
      step.views = {std::move(c.to), std::move(c.from)};
      step.bytes = c.bytes;
    }
    return copies;
  }

  Program& p_;
  struct FinalCopy {
    View to, from;
    int64_t bytes;
  };
  std::vector<FinalCopy> last_;  ///< of the loop that was assigned last
};

}  // namespace

void alias_carries(Program& program) { CarryAliasing(program).visit(program.steps); }

}  // namespace calque::kernel
