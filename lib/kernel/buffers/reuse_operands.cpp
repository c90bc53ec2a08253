// Collectives whose result is in the memory of their operand. Before buffers are assigned to carries, each buffer is
// one value, or one that a loop updates: an operand that nothing reads after the call is computed in the memory of the
// result, and a carry that the body reads for the last time is overwritten by it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/values/bytes.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/merge_buffers.h"
#include "kernel/buffers/workspace.h"

namespace calque::kernel {

namespace {

/// The references to buffers: by the views of steps, and by carries.
using Counts = std::unordered_map<int32_t, int64_t>;

template <class Visit>
void for_each_reference(const Step& step, const Visit& visit) {
  const auto view = [&](const View& v) {
    visit(v.buffer);
    for (const View::Choice& c : v.choices) visit(c.buffer);
  };
  for (const View& v : step.views) view(v);
  for (const Carry& c : step.carries) {
    for (const int32_t b : {c.before, c.next, c.spare}) visit(b);
    view(c.result);
  }
  for (const auto& block : step.blocks)
    for (const Step& s : block) for_each_reference(s, visit);
}

bool contains_candidates(const Program& program, const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& s) {
    return may_overwrite_operand(program, s) || std::any_of(s.blocks.begin(), s.blocks.end(), [&](const auto& b) {
             return contains_candidates(program, b);
           });
  });
}

bool is_whole(const View& v) { return v.offset == 0 && v.terms.empty() && v.choices.empty(); }

class OperandReuse {
 public:
  OperandReuse(Program& program, int64_t alignment) : p_(program), alignment_(alignment) {
    for (const Step& s : p_.steps) for_each_reference(s, [&](int32_t b) { ++all_[b]; });
    find_carries(p_.steps);
  }

  /// `loop`: the one whose body the steps are, if any.
  void visit(std::vector<Step>& steps, const Step* loop) {
    for (Step& s : steps)
      for (auto& block : s.blocks) {
        const bool is_body = !s.carries.empty() && &block == &s.blocks.back();
        visit(block, is_body ? &s : nullptr);
      }
    if (std::none_of(steps.begin(), steps.end(), [&](const Step& s) { return may_overwrite_operand(p_, s); })) return;
    List list{steps, {}, {}, {}};
    for (size_t at = 0; at < steps.size(); ++at)
      for_each_reference(steps[at], [&](int32_t b) {
        list.first.emplace(b, at);
        list.last[b] = at;
        ++list.count[b];
      });
    for (size_t at = 0; at < steps.size(); ++at) {
      if (!may_overwrite_operand(p_, steps[at]) || bytes_of(called(steps[at]).arguments[0]) == 0) continue;
      if (!compute_in_result(list, at) && loop != nullptr) overwrite_carry(list, at, *loop);
    }
  }

 private:
  /// A list of steps: by buffer the first and the last one that refers to it, and how often they do.
  struct List {
    std::vector<Step>& steps;
    std::unordered_map<int32_t, size_t> first, last;
    Counts count;

    bool has_all(const Counts& all, int32_t b) const { return count.at(b) == all.at(b); }
    bool is_last(int32_t b, size_t at) const { return last.at(b) == at; }
    bool is_first(int32_t b, size_t at) const { return first.at(b) == at; }
    /// The references to `from` are references to `to`.
    void merge(Counts& all, int32_t from, int32_t to) {
      first[to] = std::min(first[to], first[from]);
      last[to] = std::max(last[to], last[from]);
      count[to] += count[from];
      all[to] += all[from];
      for (Counts* counts : {&count, &all}) counts->erase(from);
      first.erase(from);
      last.erase(from);
    }
  };

  void find_carries(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      for (const Carry& c : s.carries) carries_.insert({c.before, c.next});
      for (const auto& block : s.blocks) find_carries(block);
    }
  }
  /// What is known of it, in bytes. The memory of carries is found later.
  int64_t alignment_of(const View& v) const {
    if (!is_whole(v) || carries_.contains(v.buffer)) return 1;
    return is_workspace(v) ? kWorkspaceAlignment : alignment_;
  }

  const HostFunctionRef& called(const Step& step) const {
    return p_.host_functions[static_cast<size_t>(step.host_function)];
  }
  bool is_workspace(const View& v) const {
    return is_whole(v) && p_.buffers[static_cast<size_t>(v.buffer)].kind == BufferKind::workspace;
  }

  /// What computes the operand computes it where the result will be. The call writes all of the result: what is there
  /// before is not read.
  bool compute_in_result(List& list, size_t at) {
    const View operand = list.steps[at].views[0], result = list.steps[at].views[1];
    const int32_t a = operand.buffer, b = result.buffer;
    if (!is_workspace(operand) || !result.choices.empty() || a == b) return false;
    if (!list.has_all(all_, a) || !list.is_last(a, at) || !list.is_first(b, at)) return false;
    redirect(list.steps, list.first.at(a), at + 1, a, result);
    list.merge(all_, a, b);
    return true;
  }

  /// The call overwrites the carry, in which the next iteration finds its next value all the same.
  void overwrite_carry(List& list, size_t at, const Step& loop) {
    const View operand = list.steps[at].views[0], result = list.steps[at].views[1];
    const int32_t a = operand.buffer, b = result.buffer;
    if (!is_whole(operand) || !is_workspace(result) || a == b) return;
    const auto carry =
        std::find_if(loop.carries.begin(), loop.carries.end(), [=](const Carry& c) { return c.before == a; });
    if (carry == loop.carries.end() || carry->updates) return;
    if (std::any_of(loop.carries.begin(), loop.carries.end(),
                    [=](const Carry& c) { return c.next == a || c.next == b; }))
      return;
    if (!list.is_last(a, at) || !list.has_all(all_, b) || !list.is_first(b, at)) return;
    if (ends_in(list.steps, b)) return;  // its carries may rotate
    redirect(list.steps, at, list.last.at(b) + 1, b, operand);
    list.merge(all_, b, a);
  }

  /// Whether a carry of a loop among the steps has its result in the buffer.
  static bool ends_in(const std::vector<Step>& steps, int32_t buffer) {
    return std::any_of(steps.begin(), steps.end(), [=](const Step& s) {
      return std::any_of(s.carries.begin(), s.carries.end(),
                         [=](const Carry& c) { return c.result.buffer == buffer; }) ||
             std::any_of(s.blocks.begin(), s.blocks.end(), [=](const auto& b) { return ends_in(b, buffer); });
    });
  }

  /// Steps [begin, end) refer to the slice instead of the buffer.
  void redirect(std::vector<Step>& steps, size_t begin, size_t end, int32_t buffer, const View& slice) {
    const auto from = steps.begin() + static_cast<std::ptrdiff_t>(begin),
               to = steps.begin() + static_cast<std::ptrdiff_t>(end);
    std::vector<Step> range(std::make_move_iterator(from), std::make_move_iterator(to));
    limit_alignment(p_, range, buffer, alignment_of(slice));
    redirect_views(range, {{buffer, slice}});
    redirect_carries(range, buffer, slice);
    std::move(range.begin(), range.end(), from);
  }
  static void redirect_carries(std::vector<Step>& steps, int32_t buffer, const View& slice) {
    for (Step& s : steps) {
      for (Carry& c : s.carries) {
        if (c.result.buffer != buffer) continue;
        View result = slice;
        result.offset += c.result.offset;
        result.terms.insert(result.terms.end(), c.result.terms.begin(), c.result.terms.end());
        c.result = std::move(result);
      }
      for (auto& block : s.blocks) redirect_carries(block, buffer, slice);
    }
  }

  Program& p_;
  const int64_t alignment_;              ///< of inputs and outputs
  Counts all_;                           ///< in the whole program
  std::unordered_set<int32_t> carries_;  ///< their buffers
};

}  // namespace

void reuse_operands(Program& program, int64_t alignment) {
  if (contains_candidates(program, program.steps)) OperandReuse(program, alignment).visit(program.steps, nullptr);
}

}  // namespace calque::kernel
