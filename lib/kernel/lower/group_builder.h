#pragma once
// What a group of a plan becomes: loops over the spaces of its roots, their elements computed inside.
#include <optional>
#include <utility>
#include <vector>

#include "kernel/lower/memory_frame.h"

namespace calque::kernel {

class GroupBuilder {
 public:
  /// A value and where its elements go.
  struct Item {
    Value value;
    Operand to;
  };

  GroupBuilder(const Memory& memory, BoundKernel& out, std::span<const Value> roots)
      : memory_(memory), emitter_(out.kernel), elements_(emitter_), frame_(memory, out, roots) {}

  Operand destination(Value v) { return frame_.bind(memory_.bindings[v.id()]); }
  MemoryFrame& frame() { return frame_; }

  /// From here on, loops of maps and reductions are built so that they can become one.
  void share_loops(const plan::Group& group);
  /// What a group stores: `parts` in loop nests, and `updates`, dynamic_update_slices into their operand's own memory.
  struct Split {
    std::vector<Item> parts, updates;
  };
  /// Concatenations become a part for each operand.
  Split split(std::span<const Item> items) const;
  /// Where to cut the parts so that those before each end, and behind the end before, have a bounded number of buffers.
  std::vector<size_t> bounded_chunks(std::span<const Item> parts) const;
  /// One loop nest a shape, with everything of that shape inside.
  void nests(std::span<const Item> parts);
  /// A dynamic_update_slice into its operand's buffer: the slice alone.
  void window(const Item& item);
  void cumulative(const Equation& e);
  /// A tiled product and what is computed of its elements: each root at the product's own position.
  void contraction(const Equation& e, std::span<const Value> roots);
  void scan(const Equation& e, const Shape& space, std::span<const Value> roots);
  void scatter(const Equation& e);

 private:
  // ---- pointwise_nests.cpp
  /// A concatenation is written operand by operand, each into its part of the result.
  void split(const Item& item, std::vector<Item>& parts) const;
  /// The concatenation that a value is, or is a reshape of that its place allows to be written under its own shape.
  std::optional<Item> concatenation(Item item) const;
  /// The same element under another shape, which differs in dimensions of extent 1 alone.
  Index renamed(const Index& index, const Shape& from, const Shape& to);
  void nest(std::span<const Item> items);
  /// The dimensions of a space from the outermost loop to the innermost.
  std::vector<size_t> loop_order(const Shape& space) const;
  /// Parallel loops over a space, the body given each index: one loop over positions, or one for each dimension.
  void over(const Shape& space, bool flat, const std::function<void(const Index&)>& body);

  const Shape& shape_of(const Item& item) const { return memory_.graph.shape(item.value); }
  static Operand row_major(const Shape& shape);
  void put(const Operand& to, const Shape& shape, const Index& index, Id value) {
    emitter_.store(to.buffer, elements_.linear(to, shape, index), value);
  }

  const Memory& memory_;
  Emitter emitter_;
  Elements elements_;
  MemoryFrame frame_;
  plan::Extents loops_, reduced_;  // that maps and reductions share
  bool flat_ = true;               // elements of several dimensions may be numbered in row-major order
};

}  // namespace calque::kernel
