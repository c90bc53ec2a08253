#include "transform/linalg/expand_linalg.h"

#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "primitives/core/writer.h"
#include "primitives/linalg/matrix.h"
#include "primitives/linalg/triangular_solve.h"
#include "primitives/list.h"

namespace calque::transform {
namespace {

using namespace primitives;

using Ints = std::vector<int64_t>;

bool is_small_linalg(const Graph& g, const Equation& e) {
  if (e.id() != id_of<Cholesky> && e.id() != id_of<TriangularSolve>) return false;
  const Type& a = g.type(e.operand(0));
  return !is_complex(a.dtype) && num_rows(a.shape) <= kMostExpandedRows;
}

/// What the pass has computed of matrices, by value id, so that what reads them next does not slice the whole.
struct Computed {
  std::unordered_map<uint32_t, std::vector<Value>> elements;  // of n x n matrices: over the batch dimensions
  std::unordered_map<uint32_t, std::vector<Value>> rows;      // of right-hand sides: those and the columns
};

/// The elements of matrices [..., rows, columns] as arrays over the batch dimensions.
class Elements {
 public:
  Elements(const Writer& w, Value matrices, const Computed& computed) : w_(w), matrices_(matrices) {
    shape_ = w.shape(matrices);
    if (const auto found = computed.elements.find(matrices.id()); found != computed.elements.end())
      elements_ = &found->second;
    if (const auto found = computed.rows.find(matrices.id()); found != computed.rows.end()) rows_ = &found->second;
  }

  Shape batch() const { return Shape(batch_of(shape_)); }
  /// Element (i, j) of each matrix: [...].
  Term at(int64_t i, int64_t j) const {
    if (elements_) return {&w_, (*elements_)[static_cast<size_t>(i * num_columns(shape_) + j)]};
    return {&w_, w_.reshape(slice(i, j, 1), batch())};
  }
  /// Row i of each matrix: [..., columns].
  Term row(int64_t i) const {
    if (rows_) return {&w_, (*rows_)[static_cast<size_t>(i)]};
    const int64_t columns = num_columns(shape_);
    return {&w_, w_.reshape(slice(i, 0, columns), shape_.without(shape_.size() - 2))};
  }

 private:
  Value slice(int64_t i, int64_t j, int64_t columns) const {
    const size_t rank = shape_.size();
    Ints start(rank, 0), limit(shape_.begin(), shape_.end()), stride(rank, 1);
    start[rank - 2] = i;
    limit[rank - 2] = i + 1;
    start[rank - 1] = j;
    limit[rank - 1] = j + columns;
    return w_.emit(id_of<Slice>, {matrices_},
                   {{"limit", std::move(limit)}, {"start", std::move(start)}, {"stride", std::move(stride)}});
  }

  const Writer& w_;
  Value matrices_;
  Shape shape_;
  const std::vector<Value>* elements_ = nullptr;
  const std::vector<Value>* rows_ = nullptr;
};

Shape with_dims(const Shape& batch, int64_t rows, int64_t columns) {
  Ints dims(batch.begin(), batch.end());
  dims.push_back(rows);
  dims.push_back(columns);
  return Shape(dims);
}

Value cholesky(const Writer& w, Value a, Computed& computed) {
  const Type type = w.type(a);
  const int64_t n = num_rows(type.shape);
  const auto size = static_cast<size_t>(n);
  if (type.shape.num_elements() == 0) return w.zeros(type);
  const Elements from(w, a, computed);
  std::vector<std::vector<Term>> l(size, std::vector<Term>(size));
  std::optional<Term> is_definite;
  for (size_t j = 0; j < size; ++j) {
    const auto remaining = [&](size_t i) {
      Term sum = from.at(static_cast<int64_t>(i), static_cast<int64_t>(j));
      for (size_t k = 0; k < j; ++k) sum = sum - l[i][k] * l[j][k];
      return sum;
    };
    const Term pivot = remaining(j);
    const Term is_positive = pivot > constant(pivot, 0);
    is_definite = is_definite ? *is_definite & is_positive : is_positive;
    l[j][j] = sqrt(pivot);
    const Term reciprocal = 1.0 / l[j][j];
    for (size_t i = j + 1; i < size; ++i) l[i][j] = remaining(i) * reciprocal;
  }
  const int64_t axis = type.shape.rank() - 1;
  const Value zero = w.zeros({type.dtype, from.batch()});
  std::vector<Value> elements;
  ValueList rows;
  for (size_t i = 0; i < size; ++i) {
    ValueList row;
    for (size_t j = 0; j <= i; ++j) {
      const Term element = select(*is_definite, l[i][j], constant(l[i][j], std::numeric_limits<double>::quiet_NaN()));
      elements.push_back(element.value);
      row.push_back(w.reshape(element.value, with_dims(from.batch(), 1, 1)));
    }
    elements.resize((i + 1) * size, zero);
    const int64_t above = n - 1 - static_cast<int64_t>(i);
    if (above > 0) row.push_back(w.zeros({type.dtype, with_dims(from.batch(), 1, above)}));
    rows.push_back(w.concatenate(std::move(row), axis));
  }
  const Value factor = w.concatenate(std::move(rows), axis - 1);
  computed.elements.emplace(factor.id(), std::move(elements));
  return factor;
}

Value triangular_solve(const Writer& w, Value a, Value b, const TriangularForm& form, Computed& computed) {
  const Type type = w.type(b);
  if (type.shape.num_elements() == 0) return w.zeros(type);
  const int64_t n = num_rows(type.shape), columns = num_columns(type.shape);
  const Elements matrices(w, a, computed), sides(w, b, computed);
  const Shape space = type.shape.without(type.shape.size() - 2);
  Ints axes;
  for (int64_t d = 0; d + 1 < space.rank(); ++d) axes.push_back(d);
  const auto coefficient = [&](int64_t i, int64_t k) {
    const Term t = form.transpose ? matrices.at(k, i) : matrices.at(i, k);
    return Term{&w, w.broadcast(t.value, space, axes)};
  };
  std::vector<Term> x(static_cast<size_t>(n));
  for (int64_t step = 0; step < n; ++step) {
    const auto row = [&](int64_t at) { return form.forward() ? at : n - 1 - at; };
    const int64_t i = row(step);
    Term sum = sides.row(i);
    for (int64_t before = 0; before < step; ++before) {
      const int64_t k = row(before);
      sum = sum - coefficient(i, k) * x[static_cast<size_t>(k)];
    }
    x[static_cast<size_t>(i)] = form.unit_diagonal ? sum : sum / coefficient(i, i);
  }
  ValueList rows;
  std::vector<Value> values;
  for (const Term& row : x) {
    values.push_back(row.value);
    rows.push_back(w.reshape(row.value, with_dims(matrices.batch(), 1, columns)));
  }
  const Value solution = w.concatenate(std::move(rows), type.shape.rank() - 2);
  computed.rows.emplace(solution.id(), std::move(values));
  return solution;
}

class Expander {
 public:
  explicit Expander(Graph& to) : to_(to) {}

  std::vector<Value> append(const Graph& from, std::span<const Value> inputs) {
    std::vector<Value> map(from.num_values());
    for (size_t i = 0; i < inputs.size(); ++i) map[from.inputs()[i].id()] = inputs[i];
    const auto value = [&](Value v) {
      Value& to = map[v.id()];
      if (!to.valid()) to = to_.add_copy(from, v);
      return to;
    };
    for (const Equation& e : from.equations()) {
      ValueList operands;
      for (const Value v : e.operands()) operands.push_back(value(v));
      if (is_small_linalg(from, e)) {
        const Writer w(to_, e.location());
        map[e.result().id()] = e.id() == id_of<Cholesky> ? cholesky(w, operands[0], computed_)
                                                         : triangular_solve(w, operands[0], operands[1],
                                                                            TriangularForm(e.attributes()), computed_);
        continue;
      }
      std::vector<Graph> subgraphs;
      for (const Graph& s : e.subgraphs()) subgraphs.push_back(expand_linalg(s));
      const Equation& copy = to_.append_copy(from, e, std::move(operands), std::move(subgraphs));
      for (size_t i = 0; i < e.results().size(); ++i) map[e.result(i).id()] = copy.result(i);
    }
    std::vector<Value> outputs;
    for (const Value v : from.outputs()) outputs.push_back(value(v));
    return outputs;
  }

 private:
  Graph& to_;
  Computed computed_;
};

}  // namespace

bool has_small_linalg(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (is_small_linalg(graph, e)) return true;
    for (const Graph& s : e.subgraphs())
      if (has_small_linalg(s)) return true;
  }
  return false;
}

Graph expand_linalg(const Graph& graph) {
  if (!has_small_linalg(graph)) return graph;
  Graph to;
  to.set_name(graph.name());
  std::vector<Value> inputs;
  for (const Value v : graph.inputs()) inputs.push_back(to.add_input(graph.type(v)));
  to.set_outputs(Expander(to).append(graph, inputs));
  return to;
}

}  // namespace calque::transform
