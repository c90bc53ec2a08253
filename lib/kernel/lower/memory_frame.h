#pragma once
// The materialized values of a planned graph.
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "kernel/lower/lower_elements.h"
#include "kernel/lower/lower_group.h"

namespace calque::kernel {

/// Provides the values of a planned graph to its kernels: materialized values are loaded, the others computed.
class MemoryFrame final : public Frame {
 public:
  MemoryFrame(const Memory& memory, BoundKernel& out, std::span<const Value> roots)
      : Frame(memory.graph), memory_(memory), out_(out) {
    for (Value v : roots) roots_.insert(v.id());
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
    return !memory_.plan.values.is_materialized(v) || is_root(v);
  }
  bool is_root(Value v) const { return roots_.count(v.id()) != 0; }
  Operand constant(const AnyArray& array) override { return bind(memory_.constant(array)); }
  std::optional<Operand> memory(Value v) override {
    if (computes(v)) return std::nullopt;
    const Binding b = binding(v);
    return b.valid ? std::optional(bind(b)) : std::nullopt;
  }
  /// From now on the element of `v` is `element` at every index.
  void give(Value v, Id element) {
    given_ = v;
    given_element_ = element;
  }

  Operand bind(const Binding& b) {
    Operand o;
    o.strides = b.strides;
    o.dense = is_dense(b.type.shape, b.strides);
    Buffer buffer;
    buffer.dtype = b.type.dtype;
    buffer.alignment = b.alignment;
    buffer.extent = b.type.shape.num_elements() == 0 ? 0 : 1;
    for (size_t i = 0; i < b.strides.size() && buffer.extent != 0; ++i)
      buffer.extent += (b.type.shape[i] - 1) * b.strides[i];
    o.buffer = bind(b.view, buffer);
    return o;
  }
  /// The number of the kernel's buffer of that dtype bound to the view; adds one if there is none.
  int32_t bind(const View& view, const Buffer& buffer) {
    const auto [from, to] = bound_.equal_range(view.buffer);
    for (auto at = from; at != to; ++at) {
      const auto i = static_cast<size_t>(at->second);
      if (out_.views[i] == view && out_.kernel.buffers[i].dtype == buffer.dtype) return at->second;
    }
    const auto fresh = static_cast<int32_t>(out_.kernel.buffers.size());
    out_.kernel.buffers.push_back(buffer);
    out_.views.push_back(view);
    bound_.emplace(view.buffer, fresh);
    return fresh;
  }

 private:
  Binding binding(Value v) const {
    if (graph().kind(v) == ValueKind::constant) return memory_.constant(graph().constant(v));
    return memory_.bindings[v.id()];
  }
  const Memory& memory_;
  BoundKernel& out_;
  std::unordered_set<uint32_t> roots_;               // ids
  std::unordered_multimap<int32_t, int32_t> bound_;  // by buffer of the program: buffers of the kernel
  Value given_;
  Id given_element_ = kNone;
};

}  // namespace calque::kernel
