// jacfwd and jacrev: the derivative of one leaf by another is computed for a batch of (co)tangents, the standard basis.
// All are recorded into one graph; equations that do not depend on (co)tangents are not batched.
#include "frontend/transforms/common.h"
#include "ir/graph/effects.h"
#include "primitives/core/writer.h"
#include "trace/builder.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/linear_parts.h"
#include "transform/autodiff/scalar_jacobian.h"
#include "transform/autodiff/vjp.h"
#include "transform/batch/vmap.h"
#include "transform/simplify/simplify.h"

namespace calque::detail {
namespace {

Shape concatenated_shape(const Shape& a, const Shape& b) {
  std::vector<int64_t> extents(a.begin(), a.end());
  extents.insert(extents.end(), b.begin(), b.end());
  return Shape(std::span<const int64_t>(extents));
}

/// The dtype of a Jacobian, as the templates compute it: the operand's if only that is complex, else the result's.
DType derivative_dtype(DType result, DType operand) {
  return is_complex(operand) && !is_complex(result) ? operand : result;
}

class Jacobian {
 public:
  Jacobian(const Graph& function, std::span<const uint32_t> selected, Location location)
      : function_(function), selected_(selected), by_(function.inputs().size(), false), writer_(graph_, location) {
    graph_.set_name(function.name());
    for (Value v : function.inputs()) inputs_.push_back(graph_.add_input(function.type(v)));
    for (uint32_t operand : selected) by_[operand] = true;
  }

  /// Forward mode: a batch of tangents for each selected operand.
  Graph by_columns() {
    const std::vector<uint32_t> operands = marked(by_);
    prepare(transform::jvp(function_, by_), operands.size());
    std::vector<std::vector<Value>> columns(by_.size());
    for (size_t k = 0; k < operands.size(); ++k) columns[operands[k]] = column(k, operand_type(operands[k]));
    std::vector<Value> outputs;
    for (size_t i = 0; i < num_results(); ++i) {
      for (uint32_t operand : selected_) outputs.push_back(columns[operand][i]);
    }
    return finish(std::move(outputs));
  }

  /// Reverse mode: a batch of cotangents for each result.
  Graph by_rows() {
    prepare(transform::vjp(function_, by_), num_results());
    std::vector<Value> outputs;
    for (size_t i = 0; i < num_results(); ++i) {
      const std::vector<Value> values = row(i);
      outputs.insert(outputs.end(), values.begin(), values.end());
    }
    return finish(std::move(outputs));
  }

 private:
  size_t num_results() const { return function_.outputs().size(); }
  const Type& result_type(size_t i) const { return function_.type(function_.outputs()[i]); }
  const Type& operand_type(uint32_t i) const { return function_.type(function_.inputs()[i]); }
  static std::vector<uint32_t> marked(const std::vector<bool>& mask) {
    std::vector<uint32_t> positions;
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i]) positions.push_back(static_cast<uint32_t>(i));
    }
    return positions;
  }

  /// With several (co)tangents the derivative is partially evaluated, so that the shared part and its effects are
  /// recorded once.
  void prepare(Graph derivative, size_t num_directions) {
    num_directions_ = num_directions;
    if (num_directions == 1) {
      const std::vector<Value>& all = derivative.outputs();
      derivative.set_outputs({all.begin() + static_cast<ptrdiff_t>(num_results()), all.end()});
      linear_ = std::move(derivative);
      fixed_ = inputs_;
      return;
    }
    LinearParts parts = linear_parts(function_, derivative, inputs_.size(), function_.name());
    const std::vector<Value> known = writer_.inline_graph(parts.known, inputs_);
    fixed_.assign(known.begin() + static_cast<ptrdiff_t>(parts.num_results), known.end());
    linear_ = std::move(parts.linear);
  }

  /// The linear graph as a function of one (co)tangent with the others structurally zero: its derivative in that
  /// direction.
  Graph along(size_t direction) const {
    if (num_directions_ == 1) return linear_;
    const size_t fixed = fixed_.size(), count = linear_.inputs().size(), results = linear_.outputs().size();
    std::vector<bool> active(count, false);
    active[fixed + direction] = true;
    const Graph derivative = transform::jvp(linear_, active);
    Graph one;
    const primitives::Writer writer(one, writer_.location());
    std::vector<Value> inputs;
    for (size_t i = 0; i < count; ++i) {
      const Type& type = linear_.type(linear_.inputs()[i]);
      inputs.push_back(i < fixed ? one.add_input(type) : writer.zeros(type));
    }
    inputs.push_back(one.add_input(linear_.type(linear_.inputs()[fixed + direction])));
    std::vector<Value> outputs = writer.inline_graph(derivative, inputs);
    outputs.erase(outputs.begin(), outputs.begin() + static_cast<ptrdiff_t>(results));
    one.set_outputs(std::move(outputs));
    return transform::simplify(one, transform::InlineScope::calls);
  }

  Graph finish(std::vector<Value> outputs) {
    graph_.set_outputs(std::move(outputs));
    return transform::simplify(graph_, transform::InlineScope::calls);
  }

  /// [n, shape...]: entry i is one at element i and zero elsewhere.
  Value basis(const Type& type, int64_t n) const {
    const Shape square{n, n};
    const primitives::Term row{&writer_, writer_.iota(DType::i32, square, 0)};
    const primitives::Term column{&writer_, writer_.iota(DType::i32, square, 1)};
    const Value identity = writer_.convert((row == column).value, type.dtype);
    return writer_.reshape(identity, concatenated_shape(Shape{n}, type.shape));
  }

  /// Applies the linear graph to the standard basis of one (co)tangent; results have the batch at `out_axes`. A
  /// (co)tangent of one element is not batched.
  std::vector<Value> apply_to_basis(size_t direction, const Type& type,
                                    const std::vector<transform::BatchAxis>& out_axes) {
    const int64_t n = type.shape.num_elements();
    const Graph linear = along(direction);
    std::vector<Value> inputs = fixed_;
    if (n == 1) {
      inputs.push_back(writer_.splat(1, type));
      return writer_.inline_graph(linear, inputs);
    }
    std::vector<transform::BatchAxis> in_axes(linear.inputs().size());
    in_axes.back() = 0;
    inputs.push_back(basis(type, n));
    return writer_.inline_graph(transform::vmap(linear, in_axes, n, out_axes), inputs);
  }

  Value finished(Value v, const Type& result, const Type& operand) const {
    const Value shaped = writer_.reshape(v, concatenated_shape(result.shape, operand.shape));
    return writer_.convert(shaped, derivative_dtype(result.dtype, operand.dtype));
  }
  Value empty(const Type& result, const Type& operand) const {
    return writer_.zeros(
        {derivative_dtype(result.dtype, operand.dtype), concatenated_shape(result.shape, operand.shape)});
  }

  /// The derivatives of all results by the operand that is direction k.
  std::vector<Value> column(size_t k, const Type& by) {
    std::vector<Value> values;
    if (by.shape.num_elements() == 0) {
      for (size_t i = 0; i < num_results(); ++i) values.push_back(empty(result_type(i), by));
      return values;
    }
    std::vector<transform::BatchAxis> last;
    for (size_t i = 0; i < num_results(); ++i) last.emplace_back(result_type(i).shape.rank());
    const std::vector<Value> parts = apply_to_basis(k, by, last);
    for (size_t i = 0; i < num_results(); ++i) values.push_back(finished(parts[i], result_type(i), by));
    return values;
  }

  /// The derivatives of one result by all selected operands.
  std::vector<Value> row(size_t result) {
    const Type& of = result_type(result);
    std::vector<Value> values;
    if (of.shape.num_elements() == 0) {
      for (uint32_t operand : selected_) values.push_back(empty(of, operand_type(operand)));
      return values;
    }
    const std::vector<uint32_t> operands = marked(by_);
    const std::vector<Value> parts = apply_to_basis(result, of, std::vector<transform::BatchAxis>(operands.size(), 0));
    std::vector<Value> of_operand(by_.size());
    for (size_t k = 0; k < operands.size(); ++k) of_operand[operands[k]] = parts[k];
    for (uint32_t operand : selected_) values.push_back(finished(of_operand[operand], of, operand_type(operand)));
    return values;
  }

  const Graph& function_;
  std::span<const uint32_t> selected_;
  std::vector<bool> by_;  ///< of the function's inputs: selected
  Graph graph_;
  primitives::Writer writer_;
  std::vector<Value> inputs_;
  size_t num_directions_ = 0;
  /// The linear graph: its inputs are `fixed_`, then the (co)tangents.
  Graph linear_;
  std::vector<Value> fixed_;
};

void require_real(const Type& type, std::string_view path, std::string_view instead, const TransformSite& site) {
  if (!is_complex(type.dtype)) return;
  throw GradError(std::string(site.name) + ": " + std::string(path) + " is " + to_string(type) +
                  ", but must be real; " + std::string(instead) + where(site));
}

}  // namespace

std::vector<Handle> emit_jacobian(bool forward, BodyRef body, std::span<const Handle> operands,
                                  std::span<const uint32_t> selected, const std::vector<std::string>& results,
                                  const TransformSite& site) {
  for (uint32_t i : selected) {
    const Type type = type_of(operands[i], site.location);
    require_differentiable(type, path_of(site, i), site);
    if (forward) require_real(type, path_of(site, i), "differentiate by its real and its imaginary part", site);
  }
  const TraceResult function = trace_function(body, operands, site);
  const Graph& f = function.graph;
  for (size_t i = 0; i < f.outputs().size(); ++i) {
    const Type& type = f.type(f.outputs()[i]);
    if (!is_inexact(type.dtype)) {
      throw GradError(std::string(site.name) + ": " + results[i] + " is " + to_string(type) +
                      ", which has no derivative; cast it to a floating type" + where(site));
    }
    if (!forward) require_real(type, results[i], "differentiate its real and its imaginary part", site);
  }
  if (forward && !has_effect(f)) {
    if (const auto scalar = transform::scalar_jacobian(f, selected)) {
      return emit_graph(*scalar, concatenated(operands, function.captures));
    }
  }
  Jacobian jacobian(f, selected, user_location(site.location));
  return emit_graph(forward ? jacobian.by_columns() : jacobian.by_rows(), concatenated(operands, function.captures));
}

}  // namespace calque::detail
