#include "calque/check.h"

#include <algorithm>

#include "primitives/registry.h"
#include "transform/simplify/inline_calls.h"

namespace calque::cli {
namespace {

using primitives::id_of;
using primitives::rules;
using primitives::ScalarOp;
using Rounding = std::optional<DType>;

bool has_rounding(DType d) { return is_floating(real_of(d)); }

/// Bits of the significand.
int precision(DType d) {
  switch (real_of(d)) {
    case DType::bf16:
      return 8;
    case DType::f16:
      return 11;
    case DType::f32:
      return 24;
    default:
      return 53;
  }
}

Rounding coarser(Rounding a, Rounding b) {
  if (!a || !b) return a ? a : b;
  return precision(*a) <= precision(*b) ? a : b;
}

class OpenRoundings {
 public:
  OpenRoundings(const Graph& graph, const runtime::CompileOptions& options)
      : g_(graph), options_(options), of_(graph.num_values()), rounded_(graph.num_values(), true) {}

  std::vector<Rounding> of_outputs() {
    for (const Equation& e : g_.equations()) {
      const bool rounded = is_rounded(e);
      for (const Value r : e.results()) rounded_[r.id()] = rounded;
      Rounding of = is_open(e) ? coarsest_of(g_, e) : Rounding{};
      for (const Value o : e.operands()) of = coarser(of, of_[o.id()]);
      for (const Value r : e.results()) of_[r.id()] = of && has_rounding(g_.dtype(r)) ? coarser(of, g_.dtype(r)) : of;
    }
    std::vector<Rounding> out;
    for (const Value v : g_.outputs()) out.push_back(of_[v.id()]);
    return out;
  }

 private:
  /// The coarsest type of the equation's floats, those of sub-graphs included.
  static Rounding coarsest_of(const Graph& graph, const Equation& e) {
    Rounding of;
    const auto add = [&](DType d) {
      if (has_rounding(d)) of = coarser(of, d);
    };
    for (const Value v : e.operands()) add(graph.dtype(v));
    for (const Value v : e.results()) add(graph.dtype(v));
    for (const Graph& inner : e.subgraphs())
      for (const Equation& i : inner.equations()) of = coarser(of, coarsest_of(inner, i));
    return of;
  }

  /// Whether the mode leaves open how results of the equation are rounded, for given operands.
  bool is_open(const Equation& e) const {
    if (!coarsest_of(g_, e)) return false;
    const primitives::Rules& rule = rules(e.id());
    if (rule.fusion_kind == primitives::FusionKind::view) return false;
    if (options_.flush_subnormals || (options_.fast_math && !options_.strict)) return true;
    if (e.id() == id_of<primitives::Convert>) return false;
    if (rule.fusion_kind != primitives::FusionKind::elementwise) return true;
    if (options_.strict) return false;
    // A function has more than one form, and what is composed may be a sum of products.
    if (primitives::lower_kind(g_, e) != primitives::LowerKind::elementwise || rule.compose != nullptr) return true;
    const bool is_sum = e.id() == id_of<primitives::Add> || e.id() == id_of<primitives::Sub>;
    return std::ranges::any_of(e.operands(), [&](Value o) {
      return has_rounding(g_.dtype(o)) && (is_sum || size_of(real_of(g_.dtype(o))) == 2) && !rounded_[o.id()];
    });
  }

  /// Whether the results are neither products that may be fused into a sum nor 16-bit results that may be kept in f32,
  /// nor such with another sign. The equation's operands are known.
  bool is_rounded(const Equation& e) const {
    using namespace primitives;
    switch (e.id()) {
      case id_of<Convert>:
        return true;
      case id_of<Neg>:
      case id_of<Abs>:
      case id_of<Max>:
      case id_of<Min>:
      case id_of<Select>:
        return std::ranges::all_of(e.operands(), [&](Value o) { return rounded_[o.id()]; });
      case id_of<Add>:
      case id_of<Sub>:
      case id_of<Sqrt>:
        return size_of(real_of(g_.dtype(e.result()))) != 2;
      default:
        return rules(e.id()).fusion_kind == FusionKind::view &&
               std::ranges::all_of(e.operands(), [&](Value o) { return rounded_[o.id()]; });
    }
  }

  const Graph& g_;
  const runtime::CompileOptions& options_;
  std::vector<Rounding> of_;
  std::vector<bool> rounded_;  ///< by value id: see is_rounded; inputs and constants are
};

}  // namespace

std::vector<Rounding> open_roundings(const Graph& graph, const runtime::CompileOptions& options) {
  const Graph inlined = transform::inline_calls(graph);
  return OpenRoundings(inlined, options).of_outputs();
}

Tolerance tolerance_of(Rounding coarsest) {
  Tolerance t;
  if (!coarsest) return t;
  t.kind = Tolerance::Kind::relative;
  switch (real_of(*coarsest)) {
    case DType::f64:
      t.rtol = 1e-10, t.atol = 1e-12;
      break;
    case DType::f16:
      t.rtol = 4e-3, t.atol = 1e-3;
      break;
    case DType::bf16:
      t.rtol = 3e-2, t.atol = 1e-2;
      break;
    default:
      t.rtol = 2e-5, t.atol = 5e-6;
  }
  return t;
}

}  // namespace calque::cli
