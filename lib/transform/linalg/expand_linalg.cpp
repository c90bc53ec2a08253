#include "transform/linalg/expand_linalg.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "primitives/linalg/batched_cholesky.h"
#include "primitives/linalg/lu_solve.h"
#include "primitives/linalg/matrix.h"
#include "primitives/linalg/pinv.h"
#include "primitives/linalg/spectrum.h"
#include "primitives/list.h"
#include "transform/linalg/expansions.h"

namespace calque::transform {
namespace {

using namespace primitives;

/// Whether the matrices that an equation factors, its operand 0, are small enough for straight-line code.
bool is_small(const Graph& g, const Equation& e) {
  const Shape& shape = g.shape(e.operand(0));
  const int64_t rows = num_rows(shape), columns = num_columns(shape);
  switch (e.id()) {
    case id_of<Cholesky>:
    case id_of<TriangularSolve>:
      return rows <= kMostExpandedRows;
    case id_of<Lu>:
      return std::max(rows, columns) <= kMostExpandedLu;
    case id_of<Qr>:
      return std::min(rows, columns) <= kMostExpandedQr && std::max(rows, columns) <= kMostExpandedLu;
    default:
      return false;
  }
}

/// Whether an equation factors so many matrices that they share the lanes of a kernel.
bool is_batched(const Graph& g, const Equation& e, const LinalgLimits& limits) {
  const Shape& shape = g.shape(e.operand(0));
  const int64_t rows = num_rows(shape);
  return e.id() == id_of<Cholesky> && !is_small(g, e) && !is_complex(g.dtype(e.operand(0))) &&
         !is_paired(e.attributes()) && rows <= limits.most_batched_rows &&
         shape.num_elements() >= kLeastBatch * rows * rows;
}

bool is_used(const Graph& g, Value v) {
  const auto is_v = [v](Value other) { return other == v; };
  return std::ranges::any_of(g.outputs(), is_v) ||
         std::ranges::any_of(g.equations(), [&](const Equation& e) { return std::ranges::any_of(e.operands(), is_v); });
}

/// Whether an equation of eigenvalues or singular values computes vectors, too, that nothing reads.
bool has_unused_vectors(const Graph& g, const Equation& e) {
  if (!has_vectors(e.attributes())) return false;
  if (e.id() == id_of<Eigh> || e.id() == id_of<Eig>) return !is_used(g, e.result(1));
  // pinv is made of the same decomposition.
  const auto needs_vectors = [&](const Equation& other) {
    return other.id() == id_of<Pinv> && other.operand(0) == e.operand(0);
  };
  if (std::ranges::any_of(g.equations(), needs_vectors)) return false;
  return !is_used(g, e.result(0)) && !is_used(g, e.result(2));
}

bool is_expanded(const Graph& g, const Equation& e, const LinalgLimits& limits) {
  switch (e.id()) {
    case id_of<Eigh>:
    case id_of<Svd>:
    case id_of<Eig>:
      return has_unused_vectors(g, e);
    case id_of<Cholesky>:
      return is_small(g, e) || is_batched(g, e, limits);
    case id_of<TriangularSolve>:
    case id_of<Lu>:
      return is_small(g, e);
    case id_of<Qr>:
      return !is_complex(g.dtype(e.operand(0))) && is_small(g, e);
    case id_of<LuSolve>:
    case id_of<Det>:
    case id_of<SlogDet>:
    case id_of<Pinv>:
      return true;
    default:
      return false;
  }
}

class Expander {
 public:
  Expander(Graph& to, const LinalgLimits& limits) : to_(to), limits_(limits) {}

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
      if (is_expanded(from, e, limits_)) {
        const std::vector<Value> results = expand(e, operands);
        for (size_t i = 0; i < results.size(); ++i) map[e.result(i).id()] = results[i];
        continue;
      }
      std::vector<Graph> subgraphs;
      for (const Graph& s : e.subgraphs()) subgraphs.push_back(expand_linalg(s, limits_));
      const Equation& copy = to_.append_copy(from, e, std::move(operands), std::move(subgraphs));
      for (size_t i = 0; i < e.results().size(); ++i) map[e.result(i).id()] = copy.result(i);
    }
    std::vector<Value> outputs;
    for (const Value v : from.outputs()) outputs.push_back(value(v));
    return outputs;
  }

 private:
  std::vector<Value> expand(const Equation& e, const ValueList& operands) {
    const Writer w(to_, e.location());
    switch (e.id()) {
      case id_of<Cholesky>:
        if (num_rows(w.shape(operands[0])) > kMostExpandedRows) return {batched_cholesky(w, operands[0])};
        return {small_cholesky(w, operands[0], known_)};
      case id_of<TriangularSolve>:
        return {solve(w, operands[0], operands[1], TriangularForm(e.attributes()))};
      case id_of<Lu>: {
        const LuFactors factors = lu(w, operands[0]);
        return {factors.packed, factors.perm};
      }
      case id_of<Qr>: {
        if (w.shape(operands[0]).num_elements() == 0) return empty_qr(w, operands[0]);
        const QrFactors factors = small_qr(w, operands[0], known_);
        return {factors.q, factors.r};
      }
      case id_of<Eigh>:
      case id_of<Svd>:
      case id_of<Eig>: {
        Attributes attributes = e.attributes();
        attributes.set(kVectorsAttribute.name, false);
        std::vector<Value> results(e.results().size());
        results[e.id() == id_of<Svd> ? 1 : 0] = w.append(e.id(), operands, std::move(attributes)).result(0);
        return results;
      }
      case id_of<Pinv>: {
        const Equation& f = w.append(id_of<Svd>, operands, {{"vectors", true}});
        const Value u = f.result(0), s = f.result(1), vh = f.result(2);
        return {pinv_of(w, u, s, vh, e.attributes().get<double>("rcond"))};
      }
      case id_of<LuSolve>:
        return {solve(w, {operands[1], operands[2]}, operands[3], e.attributes().get<bool>("transpose"))};
      case id_of<Det>:
        return {determinant_of(w, lu(w, operands[0]), known_)};
      default: {
        const Determinant d = sign_and_log_of(w, lu(w, operands[0]), known_);
        return {d.sign, d.log};
      }
    }
  }

  static Value batched_cholesky(const Writer& w, Value a) {
    const Shape shape = w.shape(a);  // a copy: equations are added
    const int64_t n = num_rows(shape);
    const std::optional<Value> half = addend_of_transpose(w.graph(), a);
    const Value all = w.reshape(half.value_or(a), Shape{shape.num_elements() / (n * n), n, n});
    const Value l = w.emit(id_of<BatchedCholesky>, {all}, {{"add_transpose", half.has_value()}});
    return w.reshape(l, shape);
  }

  /// The x of which a is x + transpose(x).
  static std::optional<Value> addend_of_transpose(const Graph& g, Value a) {
    const Equation* const sum = g.definition(a);
    if (sum == nullptr || sum->id() != id_of<Add>) return std::nullopt;
    for (const size_t i : {0U, 1U}) {
      const Value x = sum->operand(i);
      const Equation* const other = g.definition(sum->operand(1 - i));
      if (other == nullptr || other->id() != id_of<Transpose> || other->operand(0) != x) continue;
      std::vector<int64_t> adjoint(g.shape(x).size());
      std::iota(adjoint.begin(), adjoint.end(), 0);
      std::swap(adjoint[adjoint.size() - 1], adjoint[adjoint.size() - 2]);
      if (other->attributes().ints("perm") == adjoint) return x;
    }
    return std::nullopt;
  }

  LuFactors lu(const Writer& w, Value a) {
    const Shape shape = w.shape(a);
    if (shape.num_elements() == 0) return {a, identity_order(w, shape)};
    if (std::max(num_rows(shape), num_columns(shape)) <= kMostExpandedLu) return small_lu(w, a, known_);
    return emit_lu(w, a);
  }

  Value solve(const Writer& w, Value a, Value b, const TriangularForm& form) {
    if (num_rows(w.shape(a)) <= kMostExpandedRows) return small_triangular_solve(w, a, b, form, known_);
    return emit_triangular_solve(w, a, b, form);
  }

  Value solve(const Writer& w, const LuFactors& factors, Value b, bool transpose) {
    if (w.shape(b).num_elements() == 0) return b;
    if (transpose) {
      const Value y = solve(w, factors.packed, b, {false, true, false});
      return reordered(w, solve(w, factors.packed, y, {true, true, true}), factors.perm, true, known_);
    }
    const Value y = solve(w, factors.packed, reordered(w, b, factors.perm, false, known_), {true, false, true});
    return solve(w, factors.packed, y, {false, false, false});
  }

  /// 0, 1, 2 ... for each matrix.
  static Value identity_order(const Writer& w, const Shape& shape) {
    const Shape order = shape.without(shape.size() - 1);
    return w.iota(DType::i32, order, order.rank() - 1);
  }

  /// Without elements there are no rows or no columns, or no matrices.
  static std::vector<Value> empty_qr(const Writer& w, Value a) {
    const Type type = w.type(a);
    const int64_t least = std::min(num_rows(type.shape), num_columns(type.shape));
    return {w.zeros({type.dtype, type.shape.with(type.shape.size() - 1, least)}),
            w.zeros({type.dtype, type.shape.with(type.shape.size() - 2, least)})};
  }

  Graph& to_;
  const LinalgLimits& limits_;
  Known known_;
};

}  // namespace

bool has_linalg_to_expand(const Graph& graph, const LinalgLimits& limits) {
  for (const Equation& e : graph.equations()) {
    if (is_expanded(graph, e, limits)) return true;
    for (const Graph& s : e.subgraphs())
      if (has_linalg_to_expand(s, limits)) return true;
  }
  return false;
}

Graph expand_linalg(const Graph& graph, const LinalgLimits& limits) {
  if (!has_linalg_to_expand(graph, limits)) return graph;
  Graph to;
  to.set_name(graph.name());
  std::vector<Value> inputs;
  for (const Value v : graph.inputs()) inputs.push_back(to.add_input(graph.type(v)));
  to.set_outputs(Expander(to, limits).append(graph, inputs));
  return to;
}

}  // namespace calque::transform
