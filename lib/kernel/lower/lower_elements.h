#pragma once
// Lowers elements: "value v at index i" becomes scalar instructions, recursively through elementwise operations, views,
// reductions, contractions and per-element control flow, down to loads of materialized values.
#include <optional>
#include <unordered_set>

#include "kernel/ir/kernel_builder.h"
#include "plan/plan.h"
#include "primitives/core/lowering.h"

namespace calque::kernel {

/// The index of an element: one i64 expression per dimension, or the row-major position, or both.
struct Index {
  Ids parts;
  Id flat = kNone;
  bool has_parts = true;
  static Index of_parts(Ids parts) { return {std::move(parts), kNone, true}; }
  static Index of_flat(Id flat) { return {{}, flat, false}; }
};

/// An array in a buffer of a kernel: the buffer, the strides and the first element.
struct Operand {
  int32_t buffer = -1;
  Shape::Dims strides;  ///< in elements
  int64_t first = 0;
  bool dense = true;  ///< row-major without gaps
};

class Elements;

/// Provides the values of one graph inside the kernel being built.
class Frame {
 public:
  virtual ~Frame() = default;
  explicit Frame(const Graph& graph);
  const Graph& graph() const { return *graph_; }
  /// Unlike an address, never reused.
  uint64_t serial() const { return serial_; }
  /// The element of a value that no equation of this frame computes within this kernel; nullopt for other values.
  virtual std::optional<Id> element(Elements& elements, Value v, const Index& index) = 0;
  /// Whether row-major positions suffice to read `v` when it is such a value.
  virtual bool reads_flat(Value v) const = 0;
  /// Whether an equation computes `v` within this kernel.
  virtual bool computes(Value v) const = 0;
  /// Memory that holds a captured array.
  virtual Operand constant(const AnyArray& array) = 0;
  /// The memory of `v` if it is materialized.
  virtual std::optional<Operand> memory(Value) { return std::nullopt; }

 private:
  const Graph* graph_;
  uint64_t serial_;
};

class Elements {
 public:
  explicit Elements(Emitter& emitter) : e_(emitter) {}

  /// The element of `v` at `index`, emitted in the outermost scope that its operands allow.
  Id element(Frame& frame, Value v, const Index& index);
  /// Emits the elementwise operations that the given values need at the same index, in topological order, so that long
  /// chains need no deep recursion.
  void prepare(Frame& frame, std::span<const Value> values, const Index& index);
  /// Whether row-major positions suffice to compute every element of `v`.
  bool flat(Frame& frame, Value v);

  /// Whether reductions over several dimensions may run over row-major positions.
  void set_flat(bool allowed) { flat_reductions_ = allowed; }

  /// The results of a loop or branch for the element of the index space at `index`.
  Ids control(Frame& frame, const Equation& equation, const Index& index);
  /// A scan for one element of its index space. `store_ys(step, values)` receives the stacked results of each step.
  Ids scan(Frame& frame, const Equation& equation, const Index& index,
           const std::function<void(Id step, std::span<const Id> ys)>& store_ys);

  Id load(const Operand& operand, const Shape& shape, const Index& index, bool pinned = false);
  Id linear(const Operand& operand, const Shape& shape, const Index& index);
  /// The index with its parts made explicit.
  Index with_parts(const Index& index, const Shape& shape);
  Emitter& emitter() { return e_; }

  /// Accumulators of 16-bit floats are f32.
  static DType accumulator(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }
  Id convert(Id value, DType to);

 private:
  bool is_pointwise(const Frame& frame, Value v) const;
  Id compute(Frame& frame, const Equation& eq, Value v, const Index& index);
  Id reduce(Frame& frame, const Equation& eq, const Index& index);
  Id arg_reduce(Frame& frame, const Equation& eq, const Index& index);
  Id contract(Frame& frame, const Equation& eq, const Index& index);
  Ids while_loop(Frame& frame, const Equation& eq, const Index& index);
  Ids branch(Frame& frame, const Equation& eq, const Index& index);
  int depth_of(const Index& index) const;
  Emitter::MemoKey key(const Frame& frame, Value v, const Index& index) const;

  Emitter& e_;
  bool flat_reductions_ = true;
  std::unordered_map<uint64_t, std::unordered_map<uint32_t, bool>> flat_;
};

}  // namespace calque::kernel
