// Two views overlap if they may contain the same byte of a buffer or of the workspace. The private memory of a loop is
// a separate workspace.
#include "kernel/buffers/call_sites.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

namespace calque::kernel {

namespace {

// Fewer buffers than this are passed as separate pointers.
constexpr std::ptrdiff_t kMany = 16;

// The bytes of the enclosing buffer that a view of a step may access.
struct Span {
  kernel::BufferKind kind = kernel::BufferKind::input;
  int32_t index = 0;
  int64_t begin = 0, end = 0;
  size_t view = 0;

  bool same_buffer(const Span& o) const { return kind == o.kind && index == o.index; }
  friend bool operator<(const Span& a, const Span& b) {
    return std::tie(a.kind, a.index, a.begin) < std::tie(b.kind, b.index, b.begin);
  }
};

int64_t dense_bytes(const ProgramBuffer& b) {
  int64_t last = 0;
  for (size_t axis = 0; axis < b.type.shape.size(); ++axis) {
    if (b.type.shape[axis] == 0) return 0;
    last += (b.type.shape[axis] - 1) * (axis < b.strides.size() ? std::abs(b.strides[axis]) : 0);
  }
  return (last + 1) * static_cast<int64_t>(size_of(b.type.dtype));
}

Span span_of(const Program& program, size_t view, int32_t buffer, int64_t offset, bool whole, int64_t bytes) {
  const ProgramBuffer& b = program.buffers[static_cast<size_t>(buffer)];
  Span s{b.kind, b.kind == BufferKind::workspace ? b.private_to + 1 : b.index, offset, offset + bytes, view};
  if (whole) {
    s.begin = 0;
    s.end = dense_bytes(b);
  }
  if (b.kind == kernel::BufferKind::workspace) {
    s.begin += b.offset;
    s.end += b.offset;
  }
  return s;
}

/// Whether two views that take turns in the same buffers never overlap. Tries all remainders of the iteration numbers.
class Alternation {
 public:
  Alternation(const Program& program, const View& a, int64_t bytes_a, const View& b, int64_t bytes_b)
      : program_(program), a_(a), b_(b), bytes_a_(bytes_a), bytes_b_(bytes_b) {}

  bool holds() {
    if (a_.choices.empty() || b_.choices.empty()) return false;
    for (const View* v : {&a_, &b_})
      for (const View::Choice& c : v->choices)
        for (const View::Condition& when : c.conditions) {
          int64_t& period = periods_.try_emplace(when.loop, 1).first->second;
          period = std::lcm(period, when.period);
        }
    int64_t combinations = 1;
    for (const auto& [loop, period] : periods_) {
      constexpr int64_t kMost = 4096;
      combinations *= period;
      if (combinations > kMost) return false;
    }
    for (int64_t n = 0; n < combinations; ++n) {
      int64_t rest = n;
      for (const auto& [loop, period] : periods_) {
        iteration_[loop] = rest % period;
        rest /= period;
      }
      const Span x = chosen(a_, bytes_a_), y = chosen(b_, bytes_b_);
      if (x.same_buffer(y) && x.begin < y.end && y.begin < x.end) return false;
    }
    return true;
  }

 private:
  Span chosen(const View& v, int64_t bytes) const {
    for (const View::Choice& c : v.choices) {
      const auto holds = [&](const View::Condition& when) { return when.holds(iteration_.at(when.loop)); };
      if (std::all_of(c.conditions.begin(), c.conditions.end(), holds))
        return span_of(program_, 0, c.buffer, c.offset, !c.terms.empty(), bytes);
    }
    return span_of(program_, 0, v.buffer, v.offset, !v.terms.empty(), bytes);
  }

  const Program& program_;
  const View &a_, &b_;
  int64_t bytes_a_, bytes_b_;
  std::map<int32_t, int64_t> periods_, iteration_;  // by loop
};

}  // namespace

CallSites::CallSites(const kernel::Program& program) : program_(program), calls_(program.kernels.size()) {
  collect(program.steps);
}

void CallSites::collect(const std::vector<kernel::Step>& steps) {
  for (const kernel::Step& step : steps) {
    for (const auto& block : step.blocks) collect(block);
    if (step.kind == kernel::StepKind::kernel) calls_[static_cast<size_t>(step.kernel)].push_back(&step);
  }
}

std::vector<bool> CallSites::overlaps(size_t kernel) const {
  const Kernel& k = program_.kernels[kernel];
  std::vector<bool> out(k.buffers.size());
  const auto bytes_of_view = [&](size_t v) {
    return k.buffers[v].extent * static_cast<int64_t>(size_of(k.buffers[v].dtype));
  };
  for (const Step* call : calls_[kernel]) {
    std::vector<Span> spans;
    for (size_t v = 0; v < call->views.size(); ++v) {
      const int64_t bytes = bytes_of_view(v);
      const auto add = [&](const auto& slice) {
        spans.push_back(span_of(program_, v, slice.buffer, slice.offset, !slice.terms.empty(), bytes));
      };
      add(call->views[v]);
      for (const kernel::View::Choice& c : call->views[v].choices) add(c);
    }
    // Sorted by first byte, a span can overlap only its successors up to the first that begins past its end.
    std::sort(spans.begin(), spans.end());
    for (size_t i = 0; i < spans.size(); ++i) {
      for (size_t j = i + 1; j < spans.size() && spans[j].same_buffer(spans[i]) && spans[j].begin < spans[i].end; ++j) {
        const size_t a = spans[i].view, b = spans[j].view;
        const bool written = k.buffers[a].written || k.buffers[b].written;
        if (a == b || !written || spans[i].begin >= spans[j].end) continue;
        if (out[a] && out[b]) continue;
        if (!Alternation(program_, call->views[a], bytes_of_view(a), call->views[b], bytes_of_view(b)).holds())
          out[a] = out[b] = true;
      }
    }
  }
  return out;
}

std::vector<int64_t> CallSites::workspace_offsets(size_t kernel) const {
  if (calls_[kernel].size() != 1) return {};
  std::vector<int64_t> offsets;
  for (const View& view : calls_[kernel][0]->views) {
    const ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(view.buffer)];
    const bool known =
        buffer.kind == BufferKind::workspace && buffer.private_to < 0 && view.terms.empty() && view.choices.empty();
    offsets.push_back(known ? buffer.offset + view.offset : -1);
  }
  const auto known = std::count_if(offsets.begin(), offsets.end(), [](int64_t offset) { return offset >= 0; });
  return known >= kMany ? offsets : std::vector<int64_t>{};
}

}  // namespace calque::kernel
