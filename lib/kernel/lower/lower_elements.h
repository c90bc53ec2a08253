#pragma once
// Computes elements: "value v at index i" becomes scalar instructions, recursively through elementwise operations,
// views, reductions, contractions and per-element control flow, down to loads of values in memory.
#include <optional>
#include <unordered_set>

#include "kernel/ir/kernel_builder.h"
#include "plan/plan.h"
#include "primitives/core/lowering.h"

namespace calque::kernel {

/// Where an element is: one i64 expression a dimension, or the position in row-major order, or both.
struct Index {
  Ids parts;
  Id flat = kNone;
  bool has_parts = true;
  static Index of_parts(Ids parts) { return {std::move(parts), kNone, true}; }
  static Index of_flat(Id flat) { return {{}, flat, false}; }
};

/// Memory as a kernel sees it: one of its buffers, with the strides and first element of an array in it.
struct Operand {
  int32_t buffer = -1;
  Shape::Dims strides;  ///< in elements
  int64_t first = 0;
  bool dense = true;  ///< row-major without gaps
};

class Elements;

/// How the values of one graph are had inside the kernel being built.
class Frame {
 public:
  virtual ~Frame() = default;
  explicit Frame(const Graph& graph);
  const Graph& graph() const { return *graph_; }
  /// Unlike an address, never used twice.
  uint64_t serial() const { return serial_; }
  /// The element of a value that is not computed by an equation of this frame within this kernel; nothing for the
  /// others.
  virtual std::optional<Id> element(Elements& elements, Value v, const Index& index) = 0;
  /// Whether row-major positions suffice to compute `v` when it is such a value.
  virtual bool reads_flat(Value v) const = 0;
  /// Whether an equation computes `v` within this kernel.
  virtual bool computes(Value v) const = 0;
  /// Memory that holds a captured array.
  virtual Operand constant(const AnyArray& array) = 0;
  /// Memory that holds all of `v`, where there is such.
  virtual std::optional<Operand> memory(Value) { return std::nullopt; }

 private:
  const Graph* graph_;
  uint64_t serial_;
};

class Elements {
 public:
  explicit Elements(Emitter& emitter) : e_(emitter) {}

  /// Element of `v` at `index`, emitted as far out as its operands allow.
  Id element(Frame& frame, Value v, const Index& index);
  /// Emits what the given values need through elementwise operations at the same index, first things first, so that a
  /// long chain needs no deep recursion.
  void prepare(Frame& frame, std::span<const Value> values, const Index& index);
  /// Whether row-major positions alone suffice to compute every element of `v`.
  bool flat(Frame& frame, Value v);

  /// Whether reductions over several dimensions may run over row-major positions.
  void set_flat(bool allowed) { flat_reductions_ = allowed; }

  /// Results of a loop or branch for one element of the space; `index` is the element.
  Ids control(Frame& frame, const Equation& equation, const Index& index);
  /// A scan for one element of its space. `store_ys(step, values)` receives the stacked results of each step.
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
  bool in_run(const Frame& frame, Value v) const;
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
