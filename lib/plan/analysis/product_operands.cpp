#include "plan/analysis/product_operands.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "plan/analysis/equations.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// The product has so few rows that each element of this operand is read for only one tile.
bool reads_once(const GraphAnalysis& a, const Equation& e, Value v) {
  constexpr int64_t kRowsOfOneTile = 14;
  if (e.operand(0) == e.operand(1)) return false;
  const Contraction c = contraction_of(a.graph, e);
  const Product how = a.product(e);
  return (how == Product::tiled && v == e.operand(1) && c.rows <= kRowsOfOneTile) ||
         (how == Product::tiled_swapped && v == e.operand(0) && c.columns <= kRowsOfOneTile);
}

/// How many elements computing v reads from memory. None if it takes more than a few operations.
std::optional<int64_t> elements_read(const GraphAnalysis& a, const MaterializedValues& values, Value v) {
  constexpr size_t kFewOperations = 12, kFewValues = 48;
  size_t count = 0;
  int64_t read = 0;
  std::vector<Value> found{v};
  for (size_t i = 0; i < found.size(); ++i) {
    if (!values.is_inlined(found[i])) {
      read += a.graph.shape(found[i]).num_elements();
      continue;
    }
    const Equation& e = *a.graph.definition(found[i]);
    const bool computed = a.kind(e) == FusionKind::elementwise && e.id() != id_of<While>;
    if (!computed && (a.kind(e) != FusionKind::view || e.operands().size() != 1)) return std::nullopt;
    count += computed ? operations(a.graph, e) : 0;
    for (const Value o : e.operands())
      if (std::find(found.begin(), found.end(), o) == found.end()) found.push_back(o);
    if (count > kFewOperations || found.size() > kFewValues) return std::nullopt;
  }
  return read;
}

}  // namespace

bool is_prologue(const GraphAnalysis& a, const MaterializedValues& values, const Equation& product, Value v) {
  if (a.graph.kind(v) != ValueKind::result || a.product(product) == Product::dot_products) return false;
  const Equation& e = *a.graph.definition(v);
  if (a.kind(e) != FusionKind::elementwise || has_loops_or_calls(a.graph, e)) return false;
  return a.has_one_use(v) || is_faster_recomputed(a, values, v);
}

bool is_faster_recomputed(const GraphAnalysis& a, const MaterializedValues& values, Value v) {
  constexpr uint32_t kFewProducts = 4;
  const uint32_t products = a.num_uses(v);
  if (products > kFewProducts) return false;
  for (const Equation* user : a.users(v))
    if (a.kind(*user) != FusionKind::contraction || !reads_once(a, *user, v)) return false;
  const std::optional<int64_t> read = elements_read(a, values, v);
  // Materialized, the sources are read once, and the value is written once and read by each product.
  const int64_t times = products;
  return read && times * *read <= *read + (times + 1) * a.graph.shape(v).num_elements();
}

}  // namespace calque::plan
