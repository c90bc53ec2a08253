#pragma once
// References for tests of transformations: difference quotients, loops over examples, inner products.
#include <string>
#include <vector>

#include "calque/ir/graph.h"

#include "support/random/random.h"
#include "transform/batch/vmap.h"

namespace calque::test {

// ---- numbers

/// The elements as f64; real and imaginary parts are interleaved for complex arrays.
std::vector<double> numbers(const AnyArray& a);
/// The inverse: an inexact array of those numbers, rounded to its dtype.
AnyArray from_numbers(const Type& type, const std::vector<double>& numbers);
/// The same numbers in another element type of the same kind.
AnyArray converted(const AnyArray& a, DType dtype);
/// All elements finite.
bool all_finite(const std::vector<AnyArray>& arrays);
/// The largest magnitude of any floating or complex element, 0 when there is none.
double largest(const std::vector<AnyArray>& arrays);
/// An array of numbers drawn evenly from [low, high); integers and bools are zero.
AnyArray uniform(const Type& type, Rng& rng, double low = -1, double high = 1);
std::vector<AnyArray> uniform(const std::vector<Type>& types, Rng& rng, double low = -1, double high = 1);
/// The machine epsilon of that dtype (of its real component).
double epsilon(DType dtype);

/// Empty when floats and complex numbers agree within rtol * |want| + atol and everything else is equal; otherwise a
/// description of the first difference.
std::string far_apart(const std::vector<AnyArray>& got, const std::vector<AnyArray>& want, double rtol, double atol);

// ---- derivatives

/// For each input, whether it is floating or complex.
std::vector<bool> inexact_inputs(const Graph& graph);
/// The arrays at marked positions.
std::vector<AnyArray> select(const std::vector<AnyArray>& arrays, const std::vector<bool>& marked);
/// Results at x + h v, where `v` has an entry for each marked input.
std::vector<AnyArray> results_at(const Graph& graph, const std::vector<AnyArray>& x, const std::vector<bool>& marked,
                                 const std::vector<AnyArray>& v, double h);
/// Derivatives of the outputs along v by central differences of fourth order; zeros for outputs that are neither
/// floating nor complex. Of graphs in f64.
std::vector<AnyArray> differences(const Graph& graph, const std::vector<AnyArray>& x, const std::vector<bool>& marked,
                                  const std::vector<AnyArray>& v, double h = 1e-3);
/// Whether differences of two step sizes and of both sides agree: otherwise the function has a kink nearby, and
/// differences do not approximate a derivative.
bool smooth_near(const Graph& graph, const std::vector<AnyArray>& x, const std::vector<bool>& marked,
                 const std::vector<AnyArray>& v, double rtol);
/// Re(sum a b) over floating and complex arrays: the bilinear form with respect to which vjp is the transpose of jvp.
double pairing(const std::vector<AnyArray>& a, const std::vector<AnyArray>& b);
/// The sum of |a| |b|: the scale of rounding errors of a pairing.
double pairing_size(const std::vector<AnyArray>& a, const std::vector<AnyArray>& b);
/// A description of the difference between <cotangents, J v> and <J^T cotangents, v>, relative to the magnitude of
/// their terms, if it exceeds `tolerance`. Evaluated by the reference.
std::string transposition_error(const Graph& graph, const std::vector<AnyArray>& x, Rng& rng, double tolerance);

// ---- batches

using transform::BatchAxis;

/// Example number i of a batched array; the array itself when the axis is none.
AnyArray example(const AnyArray& batched, BatchAxis axis, int64_t i);
/// The arrays of one type along a new dimension.
AnyArray stacked(const std::vector<AnyArray>& examples, const Type& type, int64_t axis);
/// The type with a dimension of that extent.
Type batched_type(const Type& type, BatchAxis axis, int64_t size);
/// The definition of vmap: runs the graph for each example with the reference evaluator and stacks the results.
std::vector<AnyArray> looped(const Graph& graph, const std::vector<AnyArray>& inputs,
                             const std::vector<BatchAxis>& in_axes, int64_t size,
                             const std::vector<BatchAxis>& out_axes);

/// `0, none, 1`.
std::string axes_text(const std::vector<BatchAxis>& axes);

}  // namespace calque::test
