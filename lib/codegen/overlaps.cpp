// Two views meet when they may name one byte of one buffer, or of the workspace.
#include "codegen/overlaps.h"

#include <algorithm>
#include <cstdlib>

namespace calque::codegen {

using kernel::BufferKind;
using kernel::Program;
using kernel::Step;
using kernel::StepKind;
using kernel::View;

namespace {

// Fewer buffers than this are passed one by one.
constexpr std::ptrdiff_t kMany = 16;

void calls_of(const std::vector<Step>& steps, int32_t kernel, std::vector<const Step*>& out) {
  for (const Step& step : steps) {
    for (const auto& inner : step.blocks) calls_of(inner, kernel, out);
    if (step.kind == StepKind::kernel && step.kernel == kernel) out.push_back(&step);
  }
}

// Bytes of the enclosing buffer that a view of a step may touch.
struct Span {
  int kind = 0;
  int32_t index = 0;
  int64_t begin = 0, end = 0;
};

int64_t dense_bytes(const kernel::ProgramBuffer& b) {
  int64_t last = 0;
  for (size_t axis = 0; axis < b.type.shape.size(); ++axis) {
    if (b.type.shape[axis] == 0) return 0;
    last += (b.type.shape[axis] - 1) * (axis < b.strides.size() ? std::abs(b.strides[axis]) : 0);
  }
  return (last + 1) * static_cast<int64_t>(size_of(b.type.dtype));
}

class Overlaps {
 public:
  explicit Overlaps(const Program& program) : program_(program) {}
  std::vector<bool> of(int32_t kernel) const;

 private:
  void collect(const std::vector<Step>& steps, int32_t kernel, std::vector<bool>& out) const;
  Span span(int32_t buffer, int64_t offset, bool whole, int64_t bytes) const;
  std::vector<Span> spans(const View& view, int64_t bytes) const;
  bool overlap(const View& a, int64_t a_bytes, const View& b, int64_t b_bytes) const;

  const Program& program_;
};

Span Overlaps::span(int32_t buffer, int64_t offset, bool whole, int64_t bytes) const {
  const kernel::ProgramBuffer& b = program_.buffers[static_cast<size_t>(buffer)];
  Span s{static_cast<int>(b.kind), b.kind == BufferKind::workspace ? 0 : b.index, offset, offset + bytes};
  if (whole) {
    s.begin = 0;
    s.end = dense_bytes(b);
  }
  if (b.kind == BufferKind::workspace) {
    s.begin += b.offset;
    s.end += b.offset;
  }
  return s;
}

std::vector<Span> Overlaps::spans(const View& view, int64_t bytes) const {
  std::vector<Span> all{span(view.buffer, view.offset, !view.terms.empty(), bytes)};
  for (const View::Choice& c : view.choices) all.push_back(span(c.buffer, c.offset, !c.terms.empty(), bytes));
  return all;
}

/// Two views that change places with each other never meet.
bool Overlaps::overlap(const View& a, int64_t a_bytes, const View& b, int64_t b_bytes) const {
  if (!a.choices.empty() && a.choices.size() == b.choices.size()) {
    const View::Choice &x = a.choices[0], &y = b.choices[0];
    View swapped = b;
    swapped.choices[0].phase = x.phase;
    if (x.phase != y.phase && a == swapped) return false;
  }
  for (const Span& x : spans(a, a_bytes))
    for (const Span& y : spans(b, b_bytes))
      if (x.kind == y.kind && x.index == y.index && x.begin < y.end && y.begin < x.end) return true;
  return false;
}

void Overlaps::collect(const std::vector<Step>& steps, int32_t kernel, std::vector<bool>& out) const {
  for (const Step& step : steps) {
    for (const auto& inner : step.blocks) collect(inner, kernel, out);
    if (step.kind != StepKind::kernel || step.kernel != kernel) continue;
    const kernel::Kernel& k = program_.kernels[static_cast<size_t>(kernel)];
    const auto bytes = [&](size_t i) {
      return k.buffers[i].extent * static_cast<int64_t>(size_of(k.buffers[i].dtype));
    };
    for (size_t a = 0; a < step.views.size(); ++a)
      for (size_t b = a + 1; b < step.views.size(); ++b) {
        if (!k.buffers[a].written && !k.buffers[b].written) continue;
        if (overlap(step.views[a], bytes(a), step.views[b], bytes(b))) out[a] = out[b] = true;
      }
  }
}

std::vector<bool> Overlaps::of(int32_t kernel) const {
  std::vector<bool> out(program_.kernels[static_cast<size_t>(kernel)].buffers.size());
  collect(program_.steps, kernel, out);
  return out;
}

}  // namespace

std::vector<bool> overlaps(const Program& program, int32_t kernel) { return Overlaps(program).of(kernel); }

std::vector<int64_t> places_in_workspace(const Program& program, int32_t kernel) {
  std::vector<const Step*> calls;
  calls_of(program.steps, kernel, calls);
  if (calls.size() != 1) return {};
  std::vector<int64_t> places;
  for (const View& view : calls[0]->views) {
    const kernel::ProgramBuffer& buffer = program.buffers[static_cast<size_t>(view.buffer)];
    const bool known = buffer.kind == BufferKind::workspace && view.terms.empty() && view.choices.empty();
    places.push_back(known ? buffer.offset + view.offset : -1);
  }
  const auto many = std::count_if(places.begin(), places.end(), [](int64_t place) { return place >= 0; });
  return many >= kMany ? places : std::vector<int64_t>{};
}

}  // namespace calque::codegen
