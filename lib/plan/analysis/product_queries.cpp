#include "plan/analysis/product_queries.h"

#include <algorithm>

#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

using Dims = Contraction::Dims;

bool has(const Dims& dims, size_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

int64_t extents(const Shape& shape, const Dims& dims) {
  int64_t n = 1;
  for (const size_t d : dims) n *= shape[d];
  return n;
}

/// Whether the operand's elements, row-major, are contiguous along these dimensions.
bool is_innermost(const Shape& shape, const Dims& dims) {
  for (size_t d = shape.size(); d-- > 0;)
    if (shape[d] != 1) return has(dims, d);
  return false;
}

/// Types for which tiled products are implemented.
bool has_tiles(DType d) {
  switch (d) {
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
      return true;
    default:
      return false;
  }
}

/// With fewer columns than this, too much of a vector is unused.
constexpr int64_t kFewColumns = 4;
/// With fewer rows than this, transposing elements into vectors costs more than the reuse of the vectors saves.
constexpr int64_t kFewRows = 4;
constexpr int64_t kSmallProduct = 32;

}  // namespace

Contraction contraction_of(const Graph& g, const Equation& e) {
  Contraction c;
  const Shape &lhs = g.shape(e.operand(0)), &rhs = g.shape(e.operand(1));
  for (const int64_t d : e.attributes().ints("lhs_batch")) c.lhs_batch.push_back(static_cast<size_t>(d));
  for (const int64_t d : e.attributes().ints("rhs_batch")) c.rhs_batch.push_back(static_cast<size_t>(d));
  const auto &lc = e.attributes().ints("lhs_contract"), &rc = e.attributes().ints("rhs_contract");
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < lc.size(); ++i) pairs.emplace_back(static_cast<size_t>(lc[i]), static_cast<size_t>(rc[i]));
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [l, r] : pairs) {
    c.lhs_contracted.push_back(l);
    c.rhs_contracted.push_back(r);
  }
  for (size_t d = 0; d < lhs.size(); ++d)
    if (!has(c.lhs_batch, d) && !has(c.lhs_contracted, d)) c.lhs_free.push_back(d);
  for (size_t d = 0; d < rhs.size(); ++d)
    if (!has(c.rhs_batch, d) && !has(c.rhs_contracted, d)) c.rhs_free.push_back(d);
  c.batch = extents(lhs, c.lhs_batch);
  c.rows = extents(lhs, c.lhs_free);
  c.columns = extents(rhs, c.rhs_free);
  c.k = extents(lhs, c.lhs_contracted);
  return c;
}

Product product_of(const Graph& g, const Equation& e) {
  if (!has_tiles(g.dtype(e.operand(0)))) return Product::dot_products;
  const Contraction c = contraction_of(g, e);
  if (c.batch == 0 || c.rows == 0 || c.columns == 0 || c.k < 2) return Product::dot_products;
  if (static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(c.k) < kSmallProduct)
    return Product::dot_products;
  const auto fits = [&](int64_t rows, int64_t columns, const Shape& right, const Dims& free) {
    return columns >= kFewColumns && (rows >= kFewRows || is_innermost(right, free));
  };
  const Shape &lhs = g.shape(e.operand(0)), &rhs = g.shape(e.operand(1));
  if (fits(c.rows, c.columns, rhs, c.rhs_free)) return Product::tiled;
  if (fits(c.columns, c.rows, lhs, c.lhs_free) && is_innermost(lhs, c.lhs_free)) return Product::tiled_swapped;
  return Product::dot_products;
}

}  // namespace calque::plan
