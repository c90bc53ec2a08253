#pragma once
// What the rules of transformations see of one equation: `jvp(Jvp&)`, `transpose(Transposition&)`, `batch(Batching&)`.
// All of them append to a graph that is being built; values are of that graph, an invalid one stands for zero.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calque/ir/errors.h"

#include "primitives/core/writer.h"

namespace calque::primitives {

/// What rules ask for sub-graphs; the transform layer implements it.
class SubgraphTransforms {
 public:
  virtual ~SubgraphTransforms() = default;
  /// Which outputs have a tangent that is not zero by structure, if the marked inputs have one.
  virtual std::vector<bool> active_outputs(const Graph& graph, const std::vector<bool>& active) const = 0;
  /// Inputs: the graph's, then a tangent for each active one. Outputs: the graph's, then a tangent for each of
  /// `wanted` (a zero where it is none).
  virtual Graph jvp(const Graph& graph, const std::vector<bool>& active, const std::vector<bool>& wanted) const = 0;
  /// The graph is linear in the marked inputs. Inputs: those not marked, then a cotangent for each output of `given`.
  /// Outputs: a cotangent for each marked input.
  virtual Graph transpose(const Graph& graph, const std::vector<bool>& linear,
                          const std::vector<bool>& given) const = 0;
  /// Which outputs depend on the marked inputs.
  virtual std::vector<bool> dependent_outputs(const Graph& graph, const std::vector<bool>& inputs) const = 0;
  /// The marked inputs gain a leading dimension, and so do the outputs of `batched`, to which those are added that
  /// cannot do without.
  virtual Graph batch(const Graph& graph, const std::vector<bool>& inputs, int64_t size,
                      std::vector<bool>& outputs) const = 0;
};

/// What all three see.
struct RuleSite {
  const Graph& from;
  const Equation& equation;
  Writer writer;
  const SubgraphTransforms& subgraphs;

  const Attributes& attributes() const { return equation.attributes(); }
  /// Types in the graph that is read.
  const Type& operand_type(size_t i) const { return from.type(equation.operand(i)); }
  const Type& result_type(size_t i = 0) const { return from.type(equation.result(i)); }
  template <class P>
  Value emit(ValueList operands, Attributes attributes = {}) const;  // primitives/core/emit.h
};

/// Forward mode: tangents of the results from those of the operands.
struct Jvp : RuleSite {
  std::span<const Value> primals;
  std::span<const Value> tangents;     ///< of the operands; invalid where zero. At least one is valid
  std::vector<Value> results;          ///< the primal results; to be filled in by rules with `jvp_computes_results`
  std::vector<Value> result_tangents;  ///< one for each result, invalid at first

  bool active(size_t i) const { return tangents[i].valid(); }
  std::vector<bool> active_from(size_t first) const {
    std::vector<bool> mask;
    for (size_t i = first; i < tangents.size(); ++i) mask.push_back(active(i));
    return mask;
  }
  /// The tangent of an operand, a literal where it is zero.
  Value tangent_or_zero(size_t i) const { return active(i) ? tangents[i] : writer.zeros(writer.type(primals[i])); }
  Term primal(size_t i) const { return {&writer, primals[i]}; }
  Term tangent(size_t i) const { return {&writer, tangents[i]}; }
  Term result(size_t i = 0) const { return {&writer, results[i]}; }
  /// Adds to the tangent of a result.
  void add(Value tangent, size_t result = 0) {
    Value& sum = result_tangents[result];
    sum = sum.valid() ? writer.add(sum, tangent) : tangent;
  }
};

/// Reverse mode: cotangents of the operands in which an equation is linear, from those of its results.
struct Transposition : RuleSite {
  std::span<const Value> operands;    ///< invalid where the equation is linear in it
  std::span<const Value> cotangents;  ///< of the results; invalid where zero. At least one is valid
  std::vector<Value> sums;            ///< one for each operand: what `add` has given it

  bool linear(size_t i) const { return !operands[i].valid(); }
  Term operand(size_t i) const { return {&writer, operands[i]}; }
  Term cotangent(size_t i = 0) const { return {&writer, cotangents[i]}; }
  Value cotangent_or_zero(size_t i) const {
    return cotangents[i].valid() ? cotangents[i] : writer.zeros(result_type(i));
  }
  void add(size_t i, Value cotangent) { sums[i] = sums[i].valid() ? writer.add(sums[i], cotangent) : cotangent; }
  void add(size_t i, Term cotangent) { add(i, cotangent.value); }
};

/// Many examples at once: batched values have the examples along a leading dimension.
struct Batching : RuleSite {
  int64_t size;
  std::span<const Value> operands;
  std::vector<bool> batched;  ///< of the operands; at least one is
  std::vector<Value> results;
  std::vector<bool> results_batched;

  /// An operand with the leading dimension, repeated along it when it is the same for all examples.
  Value batched_operand(size_t i) const { return batched[i] ? operands[i] : spread(operands[i]); }
  /// A value that is the same for all examples, repeated.
  Value spread(Value v) const {
    std::vector<int64_t> axes;
    for (int64_t d = 1; d <= writer.shape(v).rank(); ++d) axes.push_back(d);
    return writer.broadcast(v, writer.shape(v).with_inserted(0, size), std::move(axes));
  }
  void result(Value v, bool is_batched = true) {
    results.push_back(v);
    results_batched.push_back(is_batched);
  }
};

/// A reason at compile time.
template <size_t N>
struct Reason {
  char text[N];
  constexpr Reason(const char (&s)[N]) { std::copy_n(s, N, text); }
};

/// `using jvp = NotDifferentiable<"...">`: the reason that the user reads.
template <Reason R>
struct NotDifferentiable {
  static constexpr std::string_view reason = R.text;
};
/// `using jvp = ZeroDerivative`: the function is constant wherever it has a derivative.
struct ZeroDerivative {};

/// `using transpose = NotTransposable<"...">`.
template <Reason R>
struct NotTransposable {
  static constexpr std::string_view reason = R.text;
};
using NotLinear = NotTransposable<"is not linear in what is differentiated">;

/// Throws GradError: `name: reason (file:line)`.
[[noreturn]] void refuse(const Equation& equation, std::string_view reason);

/// What is the same for every elementwise primitive.
void batch_elementwise(Batching& b);
/// One operand, one result, the same attributes, on each example.
void batch_same(Batching& b);

}  // namespace calque::primitives
