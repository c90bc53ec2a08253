#include "kernel/lower/while_iterations.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "primitives/list.h"

namespace calque::kernel {

using namespace primitives;

namespace {

/// The scalar literals that are followed: of types whose arithmetic is that of C++.
std::optional<double> number(const Graph& g, Value v) {
  if (!g.is_literal(v)) return std::nullopt;
  const Literal& l = g.literal(v);
  switch (g.dtype(v)) {
    case DType::i32:
      return l.as<int32_t>();
    case DType::i64:
      return static_cast<double>(l.as<int64_t>());
    case DType::f32:
      return l.as<float>();
    case DType::f64:
      return l.as<double>();
    default:
      return std::nullopt;
  }
}

bool is_input(const Graph& g, Value v, size_t index) { return v == g.inputs()[index]; }

/// What one iteration does to a number.
struct Change {
  bool multiplies = false;
  double by = 0;
};

/// The change of input `index` that `v` is.
std::optional<Change> change_of(const Graph& g, Value v, size_t index) {
  const Equation* const e = g.definition(v);
  if (e == nullptr || e->operands().size() != 2) return std::nullopt;
  const PrimitiveId id = e->id();
  const Value a = e->operand(0), b = e->operand(1);
  if (id == id_of<Sub>) {
    const std::optional<double> by = number(g, b);
    return is_input(g, a, index) && by ? std::optional(Change{false, -*by}) : std::nullopt;
  }
  if (id != id_of<Add> && id != id_of<Mul>) return std::nullopt;
  const std::optional<double> by = is_input(g, a, index) ? number(g, b) : number(g, a);
  if (!by || !(is_input(g, a, index) || is_input(g, b, index))) return std::nullopt;
  return Change{id == id_of<Mul>, *by};
}

/// The comparisons that are all true where the condition is.
void conjuncts(const Graph& g, Value v, std::vector<const Equation*>& found) {
  constexpr size_t kMost = 64;
  const Equation* const e = g.definition(v);
  if (e == nullptr || found.size() >= kMost) return;
  if (e->id() == id_of<And>) {
    for (const Value operand : e->operands()) conjuncts(g, operand, found);
  } else if (e->operands().size() == 2) {
    found.push_back(e);
  }
}

bool holds(PrimitiveId id, double a, double b) {
  switch (id) {
    case id_of<Lt>:
      return a < b;
    case id_of<Le>:
      return a <= b;
    case id_of<Gt>:
      return a > b;
    case id_of<Ge>:
      return a >= b;
    default:
      return true;
  }
}

/// For how many iterations the comparison holds; -1 if too long to count.
template <class T, class Holds>
int64_t iterations(T x, Change change, const Holds& goes_on) {
  constexpr int64_t kMost = 2000;
  const T by = static_cast<T>(change.by);
  for (int64_t n = 0; n <= kMost; ++n) {
    if (!goes_on(static_cast<double>(x))) return n;
    const T next = change.multiplies ? x * by : x + by;
    if (next == x) return -1;
    x = next;
  }
  return -1;
}

int64_t iterations(DType dtype, double start, Change change, double limit, PrimitiveId comparison) {
  const auto goes_on = [&](double x) { return holds(comparison, x, limit); };
  if (is_floating(dtype)) {
    return dtype == DType::f32 ? iterations<float>(static_cast<float>(start), change, goes_on)
                               : iterations<double>(start, change, goes_on);
  }
  if (change.multiplies) return iterations<double>(start, change, goes_on);
  if (!goes_on(start)) return 0;
  // Each iteration comes nearer to the limit, or the loop ends only where the integer wraps around.
  const bool is_upper = comparison == id_of<Lt> || comparison == id_of<Le>;
  if (is_upper ? change.by <= 0 : change.by >= 0) return -1;
  constexpr double kLongest = 1e15;
  const bool is_strict = comparison == id_of<Lt> || comparison == id_of<Gt>;
  const double steps = (limit - start) / change.by, n = is_strict ? std::ceil(steps) : std::floor(steps) + 1;
  return n < kLongest ? static_cast<int64_t>(n) : -1;
}

PrimitiveId mirrored(PrimitiveId id) {
  switch (id) {
    case id_of<Lt>:
      return id_of<Gt>;
    case id_of<Le>:
      return id_of<Ge>;
    case id_of<Gt>:
      return id_of<Lt>;
    default:
      return id_of<Le>;
  }
}

bool is_order(PrimitiveId id) { return id == id_of<Lt> || id == id_of<Le> || id == id_of<Gt> || id == id_of<Ge>; }

}  // namespace

int64_t most_iterations(const Graph& graph, const Equation& loop) {
  const auto cond_consts = static_cast<size_t>(loop.attributes().integer("cond_consts"));
  const auto body_consts = static_cast<size_t>(loop.attributes().integer("body_consts"));
  const Graph& condition = loop.subgraphs()[0];
  const Graph& body = loop.subgraphs()[1];
  std::vector<const Equation*> comparisons;
  conjuncts(condition, condition.outputs()[0], comparisons);
  int64_t most = -1;
  for (const Equation* const e : comparisons) {
    if (!is_order(e->id())) continue;
    for (size_t side = 0; side < 2; ++side) {
      const std::optional<double> limit = number(condition, e->operand(1 - side));
      if (!limit) continue;
      const auto& inputs = condition.inputs();
      const auto at = std::find(inputs.begin(), inputs.end(), e->operand(side));
      if (at == inputs.end()) continue;
      const auto input = static_cast<size_t>(at - inputs.begin());
      if (input < cond_consts || condition.shape(*at).rank() != 0) continue;
      const size_t carry = input - cond_consts;
      const std::optional<double> start = number(graph, loop.operand(cond_consts + body_consts + carry));
      const std::optional<Change> change = change_of(body, body.outputs()[carry], body_consts + carry);
      if (!start || !change) continue;
      const PrimitiveId comparison = side == 0 ? e->id() : mirrored(e->id());
      const int64_t n = iterations(condition.dtype(*at), *start, *change, *limit, comparison);
      if (n >= 0) most = most < 0 ? n : std::min(most, n);
    }
  }
  return most;
}

}  // namespace calque::kernel
