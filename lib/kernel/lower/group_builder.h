#pragma once
// Lowers a fusion group: loops over the index spaces of its roots, with their elements computed inside.
#include <optional>
#include <utility>
#include <vector>

#include "kernel/lower/memory_frame.h"

namespace calque::kernel {

class GroupBuilder {
 public:
  /// A value and the operand that its elements are stored to.
  struct Item {
    Value value;
    Operand to;
  };

  GroupBuilder(const Memory& memory, BoundKernel& out, std::span<const Value> roots)
      : memory_(memory), out_(out), emitter_(out.kernel), elements_(emitter_), frame_(memory, out, roots) {}

  Operand destination(Value v) { return frame_.bind(memory_.bindings[v.id()]); }
  MemoryFrame& frame() { return frame_; }

  /// From here on, pointwise and reduction loops are built so that they can be fused.
  void share_loops(const plan::FusionGroup& group);
  /// The stores of a group: `parts` by loop nests, and `updates`, dynamic_update_slices into their operand's memory.
  struct Split {
    std::vector<Item> parts, updates;
  };
  /// Splits concatenations into a part for each operand.
  Split split(std::span<const Item> items) const;
  /// The ends of the chunks into which `parts` are split so that each chunk has a bounded number of buffers.
  std::vector<size_t> bounded_chunks(std::span<const Item> parts) const;
  /// One loop nest per shape, which computes all parts of that shape.
  void nests(std::span<const Item> parts);
  /// A dynamic_update_slice into its operand's buffer: only the slice is written.
  void window(const Item& item);
  /// The loops that the primitive's trait `anchor` names.
  void anchor(const Equation& e);
  /// A tiled product and its epilogue: each root is computed at the index of the product's element.
  void contraction(const Equation& e, std::span<const Value> roots);
  void scan(const Equation& e, const Shape& space, std::span<const Value> roots);

 private:
  // ---- one for each `Anchor`
  void cumulative(const Equation& e);
  void scatter(const Equation& e);
  void cholesky(const Equation& e);
  void permute(const Equation& e);
  // ---- pointwise_nests.cpp
  /// A concatenation is written operand by operand, each into its slice of the result.
  void split(const Item& item, std::vector<Item>& parts) const;
  /// The concatenation that defines a value, also through reshapes if its buffer can be written with the
  /// concatenation's shape.
  std::optional<Item> concatenation(Item item) const;
  /// The index of the same element in another shape that differs only in size-1 dimensions.
  Index reshaped_index(const Index& index, const Shape& from, const Shape& to);
  void nest(std::span<const Item> items);
  /// The dimensions of a space, from the outermost loop to the innermost.
  std::vector<size_t> loop_order(const Shape& space) const;
  /// Parallel loops over a space, with `body` called for each index: one loop over linear positions if `flat`, else one
  /// per dimension.
  void over(const Shape& space, bool flat, const std::function<void(const Index&)>& body);

  const Shape& shape_of(const Item& item) const { return memory_.graph.shape(item.value); }
  static Operand row_major(const Shape& shape);
  void put(const Operand& to, const Shape& shape, const Index& index, Id value) {
    emitter_.store(to.buffer, elements_.linear(to, shape, index), value);
  }

  const Memory& memory_;
  BoundKernel& out_;
  Emitter emitter_;
  Elements elements_;
  MemoryFrame frame_;
  plan::Extents loops_, reduced_;  // shared by pointwise and reduction loops
  bool flat_ = true;               // several dimensions may be traversed by row-major position
};

}  // namespace calque::kernel
