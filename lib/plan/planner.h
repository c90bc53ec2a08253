#pragma once
// State shared by the planning passes. One backward pass decides which reductions fuse with the kernel that uses them;
// a few forward passes decide which values must be materialized, which are expensive enough to be, and which roots
// share a kernel. Each pass visits each equation a bounded number of times.
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/epilogues.h"
#include "plan/equations.h"
#include "plan/plan.h"
#include "plan/product_queries.h"

namespace calque::plan {

struct Planner {
  Planner(const Graph& graph, size_t most_buffers);
  Plan run(PassLog* log);

  bool inlined(Value v) const { return g.kind(v) == ValueKind::result && !plan.materialized[v.id()]; }
  bool is_scalar(Value v) const { return g.shape(v).num_elements() == 1; }
  FusionKind fusion_kind(const Equation& e) const { return fusion_kinds[position.at(&e)]; }
  Product product(const Equation& e) const { return product_kinds[position.at(&e)]; }

  /// Records why something is not fused. Each reason is recorded once, up to a limit.
  void remark(std::string reason);

  // ---- materialize.cpp: values that must be materialized regardless of fusion
  void require_materialized(Value v);
  /// Marks a value as materialized. A reshaped concatenation shares the buffer of the concatenation, which is written
  /// operand by operand; over its own index space every element would have to select the operand it comes from.
  void materialize(Value v);
  /// The concatenation of several operands that v is a reshape of. Invalid when v is no such reshape.
  Value reshaped_concatenation(Value v) const;
  /// Only views and conversions lie between the value and memory: reading it costs no more than reading a copy.
  bool reads_through(Value v) const;
  /// An elementwise operand of a tiled product, computed while it is packed. (Expensive ones are materialized anyway.)
  bool is_prologue(const Equation& product, Value v) const;
  /// The product has so few rows that each element of this operand is read for only one tile.
  bool reads_once(const Equation& product, Value v) const;
  /// A few operations used only by such products: recomputing them in each product is faster than a pass through
  /// memory.
  bool is_faster_recomputed(Value v) const;
  /// Records why an operand of a product is not computed in the product's kernel.
  void remark_operand(const Equation& e, Value v);
  /// An update of an input, such as a loop's carry, can be written in place if computing it does not read the input. A
  /// small update that is computed from the input is therefore materialized first.
  void materialize_updates(const Equation& e, Value updates);
  /// A reduction over a few elements, such as the coordinates of a point: treated as an elementwise operation.
  bool is_short_reduction(const Equation& e) const;
  void materialize_required();

  // ---- fuse_reductions.cpp: reductions that are computed inside the kernels of their users
  /// Where a value would be computed, seen from one root: the enclosing loops (extents other than 1) and how many of
  /// them, outermost first, index the value. -1: its index is not a prefix of the loops.
  struct FusionContext {
    Value root;
    Extents loops;
    int prefix = -1;
    bool conflict = false;  ///< reached from several roots or in several ways
  };
  /// Walks the values computed inside the kernel of `context.root`, from `start` on, and records for each candidate the
  /// context of its uses.
  void walk(Value start, const FusionContext& context, std::vector<FusionContext>& contexts,
            std::vector<char>& reached);
  int operand_prefix(const Equation& e, Value operand, int prefix) const;
  /// Fuses a reduction into a kernel if all its uses are inside that kernel, in loops that run once for each of its
  /// elements: softmax becomes one kernel.
  void fuse_reductions();

  // ---- rematerialize.cpp: values that would be recomputed too often are materialized
  /// Materializes elementwise values that several kernels, or several elements of one kernel, would recompute at a
  /// higher cost than a pass through memory.
  void materialize_expensive();
  void count_levels();
  /// Counts the operations that every loop over results of the equation repeats (`repeated_cost`, `shared_cost`).
  void count_repeated(const Equation& e);
  /// Whether v is computed in the loops before a reduction and used in those after it, so that much of the computation
  /// in the earlier loops would be repeated.
  bool repeats_much(Value v) const;
  /// The value is reduced to an extremum and then compared with it, as the derivative of an extremum does. Both uses
  /// must see the same bits, so the value is computed once: two computations may differ in whether a product and a sum
  /// are contracted into an fma and in whether a 16-bit float is rounded.
  bool compared_with_extremum(Value v) const;
  /// Whether a value, if it were a concatenation, would be written operand by operand: it is materialized, or is an
  /// operand of a concatenation that is. Reshapes in between are possible if its elements are contiguous there (dense).
  enum class Destination : uint8_t { none, strided, dense };
  Destination destination(Value v, int depth = 0) const;
  /// An element of a concatenation is selected by comparing its index with the range of each operand in turn. With this
  /// many operands, reading it from memory is faster.
  static bool has_many_operands(const Equation& concatenation) {
    constexpr size_t kFewOperands = 64;
    return concatenation.operands().size() > kFewOperands;
  }
  /// A reshape that only adds or removes size-1 dimensions: its elements are those of its operand, in the same loops.
  bool only_changes_size_1_dims(const Equation& e) const;
  /// How the elements of a value are read: at the value's own index (`same`) or otherwise (`elsewhere`).
  struct Reads {
    size_t same = 0, elsewhere = 0;
    size_t reduced =
        0;  ///< of `same`: by reductions fused into their users' kernels, in loops before those of the users
    int64_t sliced = 0;     ///< elements that slices read
    bool repeated = false;  ///< an element is read more than twice
  };
  void count_reads(Value v, Reads& reads) const;
  void materialize_if_expensive(Value v, double c);
  /// Walks from every root back to memory, recording the indices at which each value is used, and materializes values
  /// that are used at too many indices or too far from their root.
  void bound_rematerialization();
  /// Splits long straight-line scalar code into several kernels; values live across a split point are materialized.
  void split_scalars();

  // ---- bound_buffers.cpp
  /// Splits straight-line code that reads or writes very many arrays in the same way, each iteration space separately.
  void bound_buffers();
  /// An operand of a concatenation that is written operand by operand: it is computed in the concatenation's kernels,
  /// over its own space.
  bool is_concatenation_operand(Value v) const;

  // ---- fusion_groups.cpp: which materialized values share a kernel
  /// Finds the values computed in the epilogues of tiled products. The fusion group of such a product is formed at the
  /// position of its first root.
  void fuse_epilogues();
  /// Records why the users of a tiled product read its result from memory.
  void remark_epilogue(const Equation& e, const Epilogue& epilogue);
  void form_fusion_groups();
  /// Values that are read only by the loop that computes them are not materialized.
  void drop_private();

  const Graph& g;
  Plan plan;
  std::vector<uint32_t> uses;                       // by value
  std::vector<std::vector<const Equation*>> users;  // by value
  std::vector<const Equation*> order;               // equations in order
  std::vector<FusionKind> fusion_kinds;             // by position in `order`
  std::vector<Product> product_kinds;               // by position in `order`; meaningful for contractions
  std::unordered_map<const Equation*, size_t> position;
  std::vector<double> cost;           // by value: operations to recompute it from memory, 0 if materialized
  std::vector<double> own_cost;       // by value: the same, whether materialized or not
  std::vector<double> repeated_cost;  // by value: those of these operations that every loop over its elements repeats
  std::vector<double> shared_cost;    // by value: those of the repeated operations that another value needs too
  std::vector<int> level;             // by value: reductions on the longest path to it
  std::vector<char> fixed;            // by value: must be materialized regardless of fusion
  std::vector<bool> searched;         // by value: compared with its extremum
  std::vector<bool> is_output;        // by value
  std::vector<FusionGroup> products;  // kernels of tiled products
  std::unordered_map<uint32_t, size_t> product_of_root;  // by value id
  std::unordered_map<uint32_t, int>
      stages;  // by value id, of roots that share loops: the number of reductions they depend on
  /// At `position`, new kernels over `space` (without size-1 dimensions) begin.
  struct SplitPoint {
    size_t position;
    Extents space;
  };
  std::vector<SplitPoint> split_points;  // in order
};

}  // namespace calque::plan
