#include "calque/conformance/random_functions.h"

#include "calque/detail/ops.h"
#include "calque/random.h"

namespace calque::cli {
namespace {

namespace random = detail::ops::random;
using detail::Handle;
using detail::Operand;
using Handles = std::vector<Handle>;

template <Handle (*F)(const Operand&, DType, const Shape&, Location)>
Handles sampler(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.dtype(), c.params.shape(), c.at)};
}

/// Bounds are params or, behind the key, operands.
template <Handle (*F)(const Operand&, const Operand&, const Operand&, DType, const Shape&, Location)>
Handles between(const FunctionCall& c) {
  const auto bound = [&](const char* name, size_t i) -> Operand {
    if (!c.params.has(name)) return c.operand(i);
    const Json& value = c.params.get(name);
    if (value.is_number_unsigned()) return detail::literal_operand(value.get<uint64_t>());
    if (value.is_number_integer()) return detail::literal_operand(value.get<int64_t>());
    return detail::literal_operand(c.params.number(name));
  };
  return {F(c.operand(0), bound("lo", 1), bound("hi", 2), c.params.dtype(), c.params.shape(), c.at)};
}

Handles key(const FunctionCall& c) {
  return {detail::constant(calque::random::key(c.params.get("seed").get<uint64_t>()).data.any(), c.at)};
}

Handles split(const FunctionCall& c) {
  std::vector<Operand> keys;
  for (const Handle h : random::split(c.operand(0), c.params.integer("n"), c.at)) keys.emplace_back(h);
  return {detail::ops::stack(keys, 0, c.at)};
}

Handles fold_in(const FunctionCall& c) {
  const Operand data = c.params.has("data") ? detail::literal_operand(c.params.integer("data")) : c.operand(1);
  return {random::fold_in(c.operand(0), data, c.at)};
}

Handles uniform(const FunctionCall& c) {
  if (!c.params.has("lo") && c.operands.size() == 1) {
    return {random::uniform(c.operand(0), c.params.dtype(), c.params.shape(), c.at)};
  }
  return between<&random::uniform>(c);
}

Handles bernoulli(const FunctionCall& c) {
  const Operand p = c.params.has("p") ? detail::literal_operand(c.params.number("p")) : c.operand(1);
  return {random::bernoulli(c.operand(0), p, c.params.shape(), c.at)};
}

Handles categorical(const FunctionCall& c) {
  c.expect_operands(2);
  const std::optional<Shape> shape = c.params.has("shape") ? std::optional(c.params.shape()) : std::nullopt;
  return {random::categorical(c.operand(0), c.operand(1), shape, c.params.has("axis") ? c.params.axis() : -1, c.at)};
}

Handles multivariate_normal(const FunctionCall& c) {
  c.expect_operands(3);
  const std::optional<Shape> shape = c.params.has("shape") ? std::optional(c.params.shape()) : std::nullopt;
  return {random::multivariate_normal(c.operand(0), c.operand(1), c.operand(2), shape, c.at)};
}

}  // namespace

const std::map<std::string_view, Handles (*)(const FunctionCall&)>& random_functions() {
  static const std::map<std::string_view, Handles (*)(const FunctionCall&)> table = {
      {"random.key", &key},
      {"random.split", &split},
      {"random.fold_in", &fold_in},
      {"random.uniform", &uniform},
      {"random.truncated_normal", &between<&random::truncated_normal>},
      {"random.randint", &between<&random::randint>},
      {"random.bernoulli", &bernoulli},
      {"random.categorical", &categorical},
      {"random.multivariate_normal", &multivariate_normal},
      {"random.bits", &sampler<&random::bits>},
      {"random.normal", &sampler<&random::normal>},
      {"random.exponential", &sampler<&random::exponential>},
      {"random.gumbel", &sampler<&random::gumbel>},
      {"random.laplace", &sampler<&random::laplace>},
      {"random.logistic", &sampler<&random::logistic>},
      {"random.cauchy", &sampler<&random::cauchy>},
      {"random.rademacher", &sampler<&random::rademacher>},
  };
  return table;
}

}  // namespace calque::cli
