#pragma once
// What the passes of planning share. Decisions are taken in one backward pass (which reductions join the kernel that
// uses them) and a few forward passes (what must be in memory, what is dear enough to be, which roots share a kernel).
// Each looks at each equation a bounded number of times.
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
  Plan run();

  bool inlined(Value v) const { return g.kind(v) == ValueKind::result && !plan.in_memory[v.id()]; }
  bool is_scalar(Value v) const { return g.shape(v).num_elements() == 1; }
  Role role(const Equation& e) const { return roles[position.at(&e)]; }
  Product product(const Equation& e) const { return kinds[position.at(&e)]; }

  /// Notes why something is not fused: each reason once, and not very many.
  void note(std::string reason);

  // ---- materialize.cpp: what must be in memory whatever fusion would like
  void need(Value v);
  /// Puts a value in memory. A reshaped concatenation lives where the concatenation does, which is written part by
  /// part; on its own index space every element would have to ask which part it comes from.
  void store(Value v);
  /// The concatenation of several parts that v is a reshape of. Invalid when it is none.
  Value reshaped_concatenation(Value v) const;
  /// Nothing but views and conversions between it and memory: as cheap to read through as a copy would be.
  bool reads_through(Value v) const;
  /// An elementwise operand of a tiled product, computed while it is packed. (Dear ones are stored all the same.)
  bool is_prologue(const Equation& product, Value v) const;
  /// A product of so few rows that each element of this operand is read for one tile alone.
  bool reads_once(const Equation& product, Value v) const;
  /// A few operations that such products alone use: computed again by each, it takes less than through memory.
  bool is_read_sooner(Value v) const;
  /// Notes why an operand of a product is not computed in the product's kernel.
  void note_operand(const Equation& e, Value v);
  /// An update of an input, as of a loop's carry, can be written into the input's own memory when it does not read the
  /// input on the way: computed from it, a small update goes through memory of its own.
  void store_updates(const Equation& e, Value updates);
  /// A reduction of a few terms, as over the coordinates of a point: an operation on elements like others.
  bool is_short_sum(const Equation& e) const;
  void fix_memory();

  // ---- fuse_reductions.cpp: reductions that are computed inside the kernels of their users
  /// The kernel a value would be computed in, seen from one root: the loops around it (extents other than 1) and how
  /// many of them, from the outside, index the value. -1: not a prefix of the loops.
  struct Place {
    Value root;
    Extents loops;
    int prefix = -1;
    bool conflict = false;  ///< reached from several roots or in several ways
  };
  /// Walks what is computed inside the kernel of `root` from `start` on and tells candidates where they are used.
  void walk(Value start, const Place& place, std::vector<Place>& places, std::vector<char>& reached);
  int operand_prefix(const Equation& e, Value operand, int prefix) const;
  /// Reductions whose every use is inside one kernel, under loops that run once for each of their elements, are
  /// computed there: softmax becomes one kernel.
  void join_reductions();

  // ---- rematerialize.cpp: what would be computed too often is stored
  /// Elementwise values that several kernels, or several elements of one, would compute again are stored when that is
  /// cheaper.
  void store_dear();
  void count_levels();
  /// Notes which operations every loop that wants results of the equation repeats (`again`, `common`).
  void count_repeated(const Equation& e);
  /// Whether v is computed in the loops before a reduction and wanted in those after it, at the cost of much that is
  /// computed before already.
  bool repeats_much(Value v) const;
  /// An extremum is taken of the value, which is then searched for it, as the extremum's derivative does: it must be
  /// the same to the last bit in both places, hence computed once. Computed twice, a product and a sum may be rounded
  /// together in one place alone, and a 16-bit float in none.
  bool compared_with_extremum(Value v) const;
  /// Whether a value, were it a concatenation, would be written part by part: it is in memory, or a part of what is.
  /// Reshapes on the way are possible where its elements follow each other there.
  enum class Destination : uint8_t { none, strided, dense };
  Destination destination(Value v, int depth = 0) const;
  /// An element of a concatenation asks each part in turn whether it is there. Of so many parts, it is rather read from
  /// memory.
  static bool has_many_parts(const Equation& concatenation) {
    constexpr size_t kFewParts = 64;
    return concatenation.operands().size() > kFewParts;
  }
  /// A reshape that only adds or removes dimensions of extent 1: its elements are those of its operand, in the same
  /// loops.
  bool is_renaming(const Equation& e) const;
  /// How a value's elements are read: by kernels over its own index, and otherwise.
  struct Reads {
    size_t same = 0, elsewhere = 0;
    size_t reduced = 0;  ///< of `same`: by reductions that are computed in their users' kernels, in loops before theirs
    int64_t sliced = 0;  ///< elements that slices read
    bool repeated = false;  ///< an element is read more than twice
  };
  void count_reads(Value v, Reads& reads) const;
  void store_if_dear(Value v, double c);
  /// Follows every root back to memory, keeping for each value the places at which it is wanted, and stores what is
  /// wanted at too many or too far from its root.
  void bound_expansion();
  /// Long straight code of single elements is cut into several kernels; what crosses a cut goes through memory.
  void cut_scalars();

  // ---- bound_buffers.cpp
  /// Straight code that reads or writes very many arrays is cut likewise, the code of each space by itself.
  void bound_buffers();
  /// Part of a concatenation that is written part by part: computed in that one's kernels, over its own space.
  bool is_part(Value v) const;

  // ---- fusion_groups.cpp: which values in memory share a kernel
  /// Finds what is computed together with tiled products. Such a product's group is formed where its first root is.
  void fuse_epilogues();
  /// Notes why a tiled product's result goes through memory to those that use it.
  void note_epilogue(const Equation& e, const Epilogue& epilogue);
  void form_groups();
  /// What only the loop that computes it reads need not be in memory.
  void drop_private();

  const Graph& g;
  Plan plan;
  std::vector<uint32_t> uses;                       // by value
  std::vector<std::vector<const Equation*>> users;  // by value
  std::vector<const Equation*> order;               // equations in order
  std::vector<Role> roles;                          // by position in `order`
  std::vector<Product> kinds;                       // by position in `order`: of contractions
  std::unordered_map<const Equation*, size_t> position;
  std::vector<double> cost;      // by value: operations to recompute it from memory, 0 in memory
  std::vector<double> own_cost;  // by value: the same, in memory or not
  std::vector<double> again;     // by value: of these operations, those that every loop over its elements repeats
  std::vector<double> common;    // by value: of those again, what some other value wants too
  std::vector<int> level;        // by value: reductions on the longest way to it
  std::vector<char> fixed;       // by value: must be in memory whatever fusion would like
  std::vector<bool> searched;    // by value: compared with its extremum
  std::vector<bool> is_output;   // by value
  std::vector<Group> products;   // kernels of tiled products
  std::unordered_map<uint32_t, size_t> product_of_root;  // by value id
  std::unordered_map<uint32_t, int>
      stages;  // by value id, of roots that share loops: how many reductions they wait for
  /// New kernels over a space (extents of 1 left out) begin at a position.
  struct Cut {
    size_t position;
    Extents space;
  };
  std::vector<Cut> cuts;  // in order
};

}  // namespace calque::plan
