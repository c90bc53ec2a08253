#pragma once
// Values of a planned graph in memory.
#include <algorithm>
#include <optional>
#include <vector>

#include "kernel/elements.h"
#include "kernel/group.h"

namespace calque::kernel {

/// The values of the planned graph as its kernels see them: loads of what is in memory, computation of the rest.
class MemoryFrame final : public Frame {
 public:
  MemoryFrame(const Memory& memory, BoundKernel& out, std::span<const Value> roots)
      : Frame(memory.graph), memory_(memory), out_(out) {
    for (Value v : roots) roots_.push_back(v);
  }

  std::optional<Id> element(Elements& elements, Value v, const Index& index) override {
    if (v == given_) return given_element_;
    const Binding& b = binding(v);
    if (!b.valid) return std::nullopt;
    return elements.load(bind(b), b.type.shape, index);
  }
  bool reads_flat(Value v) const override {
    const Binding& b = memory_.bindings[v.id()];
    return v == given_ || graph().kind(v) == ValueKind::constant || (b.valid && is_dense(b.type.shape, b.strides));
  }
  bool computes(Value v) const override {
    if (graph().kind(v) != ValueKind::result || v == given_) return false;
    return !memory_.plan.in_memory[v.id()] || std::find(roots_.begin(), roots_.end(), v) != roots_.end();
  }
  Operand constant(const AnyArray& array) override { return bind(memory_.constant(array)); }
  std::optional<Operand> memory(Value v) override {
    if (computes(v)) return std::nullopt;
    const Binding b = binding(v);
    return b.valid ? std::optional(bind(b)) : std::nullopt;
  }
  /// From now on the element of `v` is `element`, wherever it is asked for.
  void give(Value v, Id element) {
    given_ = v;
    given_element_ = element;
  }

  Operand bind(const Binding& b) {
    Operand o;
    o.strides = b.strides;
    o.dense = is_dense(b.type.shape, b.strides);
    for (size_t i = 0; i < out_.views.size(); ++i) {
      if (out_.views[i] == b.view && out_.kernel.buffers[i].dtype == b.type.dtype) {
        o.buffer = static_cast<int32_t>(i);
        return o;
      }
    }
    Buffer buffer;
    buffer.dtype = b.type.dtype;
    buffer.alignment = b.alignment;
    buffer.extent = b.type.shape.num_elements() == 0 ? 0 : 1;
    for (size_t i = 0; i < b.strides.size() && buffer.extent != 0; ++i)
      buffer.extent += (b.type.shape[i] - 1) * b.strides[i];
    out_.kernel.buffers.push_back(buffer);
    out_.views.push_back(b.view);
    o.buffer = static_cast<int32_t>(out_.kernel.buffers.size()) - 1;
    return o;
  }

 private:
  Binding binding(Value v) const {
    if (graph().kind(v) == ValueKind::constant) return memory_.constant(graph().constant(v));
    return memory_.bindings[v.id()];
  }
  const Memory& memory_;
  BoundKernel& out_;
  std::vector<Value> roots_;
  Value given_;
  Id given_element_ = kNone;
};

}  // namespace calque::kernel
