#pragma once
// The type-erased core of control flow. Bodies work on flat lists of leaves; the public templates flatten trees. Under
// an ordinary trace a body runs once and becomes a closed subgraph, its captures unified and passed as operands. Under
// an eager trace it runs for every iteration in the trace itself, and only the taken branch runs.
#include <span>
#include <string>
#include <vector>

#include "calque/detail/trace.h"

namespace calque::detail {

/// For messages: the user's line and the path of each leaf of the carry (or of a branch's results) in its tree, such as
/// `.velocity` or `[1].w`; may be empty.
struct ControlSite {
  Location location;
  std::span<const std::string> paths;
};

/// The results of the branch that `predicate` (bool, rank 0) selects. Branches receive `operands`. Throws ShapeError or
/// DTypeError when the branches' results differ or the predicate is not a bool scalar.
std::vector<Handle> cond(const Operand& predicate, BodyRef on_true, BodyRef on_false, std::span<const Handle> operands,
                         const ControlSite& site);

/// The results of branches[clamp(index)]. `index`: an integer scalar. Throws as `cond`.
std::vector<Handle> switch_(const Operand& index, std::span<const BodyRef> branches, std::span<const Handle> operands,
                            const ControlSite& site);

/// Repeats `body` (carry -> carry) while `condition` (carry -> bool scalar) holds. Throws ShapeError or DTypeError with
/// the path of the leaf when the carry changes type. `per_element` admits a condition of any shape S: every leaf's
/// shape must then start with S, and elements whose condition is false keep their carry.
std::vector<Handle> while_loop(BodyRef condition, BodyRef body, std::span<const Handle> initial,
                               const ControlSite& site, bool per_element = false);

/// carry = body(i, carry) for i from lower to upper - 1; `i` has dtype `index`. Bounds are integer scalars; if both are
/// known while tracing (literals) the loop is a scan, else a while.
std::vector<Handle> fori_loop(const Operand& lower, const Operand& upper, DType index, BodyRef body,
                              std::span<const Handle> initial, const ControlSite& site);

struct ScanParameters {
  int64_t length = -1;  ///< needed when there are no xs; -1: that of the xs
  bool reverse = false;
  int64_t unroll = 1;
};
/// (carry, y) = body(carry, x) along the leading dimension of each x. Returns the last carry, then the stacked ys.
std::vector<Handle> scan(BodyRef body, std::span<const Handle> carry, std::span<const Handle> xs,
                         const ScanParameters& parameters, const ControlSite& site);

/// Applies `body` to each slice along the leading dimension of the xs and stacks the results.
std::vector<Handle> map(BodyRef body, std::span<const Handle> xs, const ControlSite& site);

/// Prefix scan along `axis` with the associative `combine`, which receives the leaves of the left, then of the right
/// operands (whole arrays whose extent along `axis` is the number of pairs). Logarithmic depth, at most 2 log2(n)
/// calls, but for few elements of operations on elements, which a loop combines.
std::vector<Handle> associative_scan(BodyRef combine, std::span<const Handle> xs, bool reverse, int axis,
                                     const ControlSite& site);

/// Gives several traced bodies the same captures: each graph then takes its own inputs followed by the union of all
/// captures, which is returned. With `captures_first` the captures come before the inputs.
std::vector<Handle> unify_captures(std::span<TraceResult* const> results, bool captures_first = false);

}  // namespace calque::detail
