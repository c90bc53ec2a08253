#include "calque/conformance/sort_functions.h"

#include "calque/detail/sorting.h"
#include "calque/detail/vocabulary.h"

namespace calque::cli {
namespace {

namespace ops = detail::ops;
using detail::Handle;
using detail::Operand;
using Handles = std::vector<Handle>;

bool is_descending(const FunctionCall& c) { return c.params.has("descending") && c.params.flag("descending"); }
int axis(const FunctionCall& c) { return c.params.has("axis") ? c.params.axis() : -1; }
Axes axis_or_all(const FunctionCall& c) { return c.params.has("axis") ? Axes(c.params.axis()) : Axes(); }

template <Handle (*F)(const Operand&, int, bool, Location)>
Handles ordered(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), axis(c), is_descending(c), c.at)};
}
template <Handle (*F)(const Operand&, int64_t, int, Location)>
Handles parted(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.integer("k"), axis(c), c.at)};
}
Handles sort_by(const FunctionCall& c) {
  return ops::sort_by(c.operands, c.params.integer("keys", 1), axis(c), is_descending(c), c.at);
}
Handles lexsort(const FunctionCall& c) { return {ops::lexsort(c.operands, axis(c), c.at)}; }
Handles top_k(const FunctionCall& c) {
  c.expect_operands(1);
  return ops::top_k(c.operand(0), c.params.integer("k"), c.at);
}
Handles searchsorted(const FunctionCall& c) {
  c.expect_operands(2);
  const bool right = c.params.has("side") && c.params.text("side") == "right";
  return {ops::searchsorted(c.operand(0), c.operand(1), right ? side::right : side::left, c.at)};
}
template <Handle (*F)(const Operand&, const Axes&, bool, Location)>
Handles middle(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), axis_or_all(c), false, c.at)};
}
template <Handle (*F)(const Operand&, const Operand&, const Axes&, quantile_method, bool, Location)>
Handles at_fraction(const FunctionCall& c) {
  c.expect_operands(2);
  return {F(c.operand(0), c.operand(1), axis_or_all(c), quantile_method::linear, false, c.at)};
}
Handles unique(const FunctionCall& c) {
  c.expect_operands(1);
  const int64_t size = c.params.integer("size");
  if (!c.params.has("fill_value")) return {ops::unique(c.operand(0), size, nullptr, c.at)};
  const Json& value = c.params.get("fill_value");
  const Operand fill = value.is_boolean()          ? detail::literal_operand(value.get<bool>())
                       : value.is_number_integer() ? detail::literal_operand(value.get<int64_t>())
                                                   : detail::literal_operand(c.params.number("fill_value"));
  return {ops::unique(c.operand(0), size, &fill, c.at)};
}
Handles bincount(const FunctionCall& c) {
  const Operand* const weights = c.operands.size() > 1 ? &c.operands[1] : nullptr;
  return {ops::bincount(c.operand(0), weights, c.params.integer("length"), c.at)};
}
Handles histogram(const FunctionCall& c) {
  c.expect_operands(1);
  const detail::Bins bins{c.params.integer("bins"), c.params.number("lo"), c.params.number("hi")};
  return ops::histogram(c.operand(0), bins, nullptr, c.at);
}

Handles permutation(const FunctionCall& c) {
  if (c.operands.size() > 1)
    return {ops::random::permutation(c.operand(0), c.operand(1), c.params.has("axis") ? c.params.axis() : 0, c.at)};
  return {ops::random::permutation(c.operand(0), c.params.integer("n"), c.at)};
}
Handles choice(const FunctionCall& c) {
  const bool replace = !c.params.has("replace") || c.params.flag("replace");
  const Operand* const p = c.operands.size() > 2 ? &c.operands[2] : nullptr;
  return {ops::random::choice(c.operand(0), c.operand(1), c.params.shape(), replace, p, 0, c.at)};
}

}  // namespace

const std::map<std::string_view, Handles (*)(const FunctionCall&)>& sort_functions() {
  static const std::map<std::string_view, Handles (*)(const FunctionCall&)> table = {
      {"sort", &ordered<&ops::sort>},
      {"argsort", &ordered<&ops::argsort>},
      {"partition", &parted<&ops::partition>},
      {"argpartition", &parted<&ops::argpartition>},
      {"sort_by", &sort_by},
      {"lexsort", &lexsort},
      {"top_k", &top_k},
      {"searchsorted", &searchsorted},
      {"median", &middle<&ops::median>},
      {"nanmedian", &middle<&ops::nanmedian>},
      {"quantile", &at_fraction<&ops::quantile>},
      {"percentile", &at_fraction<&ops::percentile>},
      {"nanquantile", &at_fraction<&ops::nanquantile>},
      {"nanpercentile", &at_fraction<&ops::nanpercentile>},
      {"unique", &unique},
      {"bincount", &bincount},
      {"histogram", &histogram},
      {"random.permutation", &permutation},
      {"random.choice", &choice},
  };
  return table;
}

}  // namespace calque::cli
