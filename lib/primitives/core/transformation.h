#pragma once
// The contexts of transformation rules: `jvp(Jvp&)`, `transpose(Transposition&)`, `batch(Batching&)`. Rules append to
// the graph under construction. Values belong to that graph; an invalid value stands for a symbolic zero.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calque/ir/errors.h"

#include "primitives/core/writer.h"

namespace calque::primitives {

/// Transformations of sub-graphs for use in rules; implemented by the transform layer.
class SubgraphTransforms {
 public:
  virtual ~SubgraphTransforms() = default;
  /// The outputs whose tangents are not symbolic zeros when the marked inputs have tangents.
  virtual std::vector<bool> active_outputs(const Graph& graph, const std::vector<bool>& active) const = 0;
  /// Inputs: those of the graph, then a tangent per active input. Outputs: those of the graph, then a tangent per
  /// output in `wanted` (a literal zero where it has none).
  virtual Graph jvp(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted) const = 0;
  /// Requires a graph that is linear in the marked inputs. Inputs: the unmarked inputs, then a cotangent per output in
  /// `given`. Outputs: a cotangent per marked input.
  virtual Graph transpose(const Graph& graph, const std::vector<bool>& linear,
                          const std::vector<bool>& given) const = 0;
  /// The same for a sub-graph of the unknown part of partially evaluated control flow, whose own control flow has been
  /// evaluated with it: evaluating it again at each level of nesting would take time cubic in the depth.
  virtual Graph transpose_partitioned(const Graph& graph, const std::vector<bool>& linear,
                                      const std::vector<bool>& given) const = 0;
  /// The outputs that depend on the marked inputs.
  virtual std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& inputs) const = 0;
  /// Adds a leading dimension to the marked inputs and to `outputs`, which is extended by the outputs that depend on
  /// batched values.
  virtual Graph batch(const Graph& graph, const std::vector<bool>& inputs, int64_t size,
                      std::vector<bool>& outputs) const = 0;
};

/// The common part of the contexts.
struct RuleSite {
  const Graph& from;
  const Equation& equation;
  Writer writer;
  const SubgraphTransforms& subgraphs;

  const Attributes& attributes() const { return equation.attributes(); }
  /// Types in the original graph.
  const Type& operand_type(size_t i) const { return from.type(equation.operand(i)); }
  const Type& result_type(size_t i = 0) const { return from.type(equation.result(i)); }
  template <class P>
  Value emit(ValueList operands, Attributes attributes = {}) const;  // primitives/core/emit.h
};

/// Forward mode: tangents of the results from those of the operands.
struct Jvp : RuleSite {
  std::span<const Value> primals;
  std::span<const Value> tangents;     ///< of the operands; invalid if zero. At least one is valid
  std::vector<Value> results;          ///< the primal results; set by rules with `jvp_computes_results`
  std::vector<Value> result_tangents;  ///< one per result, initially invalid

  bool active(size_t i) const { return tangents[i].valid(); }
  std::vector<bool> active_from(size_t first) const {
    std::vector<bool> mask;
    for (size_t i = first; i < tangents.size(); ++i) mask.push_back(active(i));
    return mask;
  }
  /// The tangent of an operand; a literal zero if it has none.
  Value tangent_or_zero(size_t i) const { return active(i) ? tangents[i] : writer.zeros(writer.type(primals[i])); }
  Term primal(size_t i) const { return {&writer, primals[i]}; }
  Term tangent(size_t i) const { return {&writer, tangents[i]}; }
  Term result(size_t i = 0) const { return {&writer, results[i]}; }
  /// Accumulates into the tangent of a result.
  void add(Value tangent, size_t result = 0) {
    Value& sum = result_tangents[result];
    sum = sum.valid() ? writer.add(sum, tangent) : tangent;
  }
};

/// Reverse mode: computes cotangents of the linear operands of an equation from those of its results.
struct Transposition : RuleSite {
  std::span<const Value> operands;    ///< invalid for operands in which the equation is linear
  std::span<const Value> cotangents;  ///< of the results; invalid if zero. At least one is valid
  std::vector<Value> sums;            ///< one per operand: the accumulated cotangent

  bool linear(size_t i) const { return !operands[i].valid(); }
  Term operand(size_t i) const { return {&writer, operands[i]}; }
  Term cotangent(size_t i = 0) const { return {&writer, cotangents[i]}; }
  Value cotangent_or_zero(size_t i) const {
    return cotangents[i].valid() ? cotangents[i] : writer.zeros(result_type(i));
  }
  void add(size_t i, Value cotangent) { sums[i] = sums[i].valid() ? writer.add(sums[i], cotangent) : cotangent; }
  void add(size_t i, Term cotangent) { add(i, cotangent.value); }
};

/// vmap: batched values have a leading dimension over the examples.
struct Batching : RuleSite {
  int64_t size;
  const Opaque* axis;  ///< the MappedAxis, which collective equations name; null if it has no name
  std::span<const Value> operands;
  std::vector<bool> batched;  ///< of the operands; at least one is, unless the equation or a sub-graph names the axis
  std::vector<Value> results;
  std::vector<bool> results_batched;

  /// An operand with the batch dimension, broadcast along it when the operand is not batched.
  Value batched_operand(size_t i) const { return batched[i] ? operands[i] : broadcast_examples(operands[i]); }
  /// An unbatched value, broadcast along the batch dimension.
  Value broadcast_examples(Value v) const {
    std::vector<int64_t> axes;
    for (int64_t d = 1; d <= writer.shape(v).rank(); ++d) axes.push_back(d);
    return writer.broadcast(v, writer.shape(v).with_inserted(0, size), std::move(axes));
  }
  void result(Value v, bool is_batched = true) {
    results.push_back(v);
    results_batched.push_back(is_batched);
  }
};

/// A string literal as a template argument.
template <size_t N>
struct Reason {
  char text[N];
  constexpr Reason(const char (&s)[N]) { std::copy_n(s, N, text); }
};

/// `using jvp = NotDifferentiable<"...">`, with the reason shown to the user.
template <Reason R>
struct NotDifferentiable {
  static constexpr std::string_view reason = R.text;
};
/// `using jvp = ZeroDerivative`: the function is constant wherever it has a derivative.
struct ZeroDerivative {};

/// `using transpose = NotTransposable<"...">`, with the reason shown to the user.
template <Reason R>
struct NotTransposable {
  static constexpr std::string_view reason = R.text;
};
using NotLinear = NotTransposable<"is not linear in what is differentiated">;

/// Throws GradError: `name: reason (file:line)`.
[[noreturn]] void refuse(const Equation& equation, std::string_view reason);

/// The batching rule of elementwise primitives.
void batch_elementwise(Batching& b);
/// The batching rule of primitives with one operand, one result and attributes that do not change.
void batch_same(Batching& b);
/// The batching rule of primitives with one operand, one result and an attribute `axis`.
void batch_along_axis(Batching& b);

}  // namespace calque::primitives
