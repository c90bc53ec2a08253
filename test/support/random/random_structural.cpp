// Views, reductions and contractions.
#include <algorithm>

#include "support/random/random_generator.h"

namespace calque::test {

using primitives::kAny;
using primitives::kBool;
using primitives::kReal;

std::vector<int64_t> Generator::subset(size_t n, int percent) {
  List chosen;
  for (size_t i = 0; i < n; ++i) {
    if (rng_.chance(percent)) chosen.push_back(static_cast<int64_t>(i));
  }
  return chosen;
}

/// Extents whose product is n.
std::vector<int64_t> Generator::factors(int64_t n) {
  List dims;
  if (n == 0) {
    dims = {0};
  } else {
    for (int64_t p = 2; n > 1; ++p) {
      while (n % p == 0) {
        dims.push_back(p);
        n /= p;
      }
    }
  }
  if (rng_.chance(40)) dims.push_back(1);
  rng_.shuffle(dims);
  while (static_cast<int>(dims.size()) > options_.max_rank || (dims.size() > 1 && rng_.chance(40))) {
    const int64_t last = dims.back();
    dims.pop_back();
    dims[rng_.below(dims.size())] *= last;
  }
  return dims;
}

void Generator::view() {
  const Value x = any();
  const size_t rank = graph_.shape(x).size();
  switch (rng_.below(9)) {
    case 0:
      return iota();
    case 1:
      return broadcast(x);
    case 2:
      return reshape(x);
    case 3: {
      List perm;
      for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(i));
      rng_.shuffle(perm);
      if (enabled("transpose")) emit<primitives::Transpose>({x}, {{"perm", perm}});
      return;
    }
    case 4: {
      const List axes = subset(rank, 50);
      if (enabled("reverse")) emit<primitives::Reverse>({x}, {{"axes", axes}});
      return;
    }
    case 5:
      return slice(x);
    case 6:
      return pad(x);
    case 7:
      return diagonal(x);
    default:
      return concatenate(x);
  }
}

void Generator::iota() {
  if (!enabled("iota")) return;
  DType d = dtype();
  if (is_bool(d)) d = DType::i32;
  Shape s = shape(options_.max_rank, options_.max_elements);
  if (s.empty()) s = Shape{3};
  const auto axis = static_cast<int64_t>(rng_.below(s.size()));
  emit<primitives::Iota>({}, {{"axis", axis}, {"dtype", d}, {"shape", List(s.begin(), s.end())}});
}

void Generator::broadcast(Value x) {
  const Shape from = graph_.shape(x);
  List dims, axes;
  size_t next = 0;
  while (next < from.size() || rng_.chance(40)) {
    const bool take = next < from.size() && rng_.chance(60);
    if (take) {
      axes.push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(from[next] == 1 && rng_.chance(50) ? rng_.between(0, 5) : from[next]);
      ++next;
    } else {
      dims.push_back(rng_.between(rng_.chance(10) ? 0 : 1, 4));
    }
    if (static_cast<int>(dims.size()) > options_.max_rank) return;
  }
  if (!fits(dims) || !enabled("broadcast")) return;
  emit<primitives::Broadcast>({x}, {{"axes", axes}, {"shape", dims}});
}

void Generator::reshape(Value x) {
  if (!enabled("reshape")) return;
  const List dims = factors(graph_.shape(x).num_elements());
  emit<primitives::Reshape>({x}, {{"shape", dims}});
}

void Generator::diagonal(Value x) {
  const Shape from = graph_.shape(x);
  if (from.size() < 2 || !enabled("diagonal")) return;
  const size_t a = rng_.below(from.size()), skipped = rng_.below(from.size() - 1),
               b = skipped < a ? skipped : skipped + 1;
  const int64_t offset = rng_.chance(40) ? 0 : rng_.between(-from[a], from[b]);
  emit<primitives::Diagonal>(
      {x}, {{"axis1", static_cast<int64_t>(a)}, {"axis2", static_cast<int64_t>(b)}, {"offset", offset}});
}

void Generator::slice(Value x) {
  if (!enabled("slice")) return;
  List start, limit, stride;
  for (const int64_t d : Shape(graph_.shape(x))) {
    const int64_t a = rng_.chance(50) ? 0 : rng_.between(0, d);
    start.push_back(a);
    limit.push_back(rng_.chance(50) ? d : rng_.between(a, d));
    stride.push_back(rng_.between(1, 3));
  }
  emit<primitives::Slice>({x}, {{"limit", limit}, {"start", start}, {"stride", stride}});
}

void Generator::pad(Value x) {
  if (!enabled("pad")) return;
  const Type type = graph_.type(x);
  List low, high, interior, dims;
  for (const int64_t d : type.shape) {
    interior.push_back(rng_.chance(70) ? 0 : rng_.between(1, 2));
    const int64_t dilated = d + interior.back() * std::max<int64_t>(d - 1, 0);
    low.push_back(rng_.between(-std::min<int64_t>(2, dilated), 3));
    const int64_t left = dilated + low.back();
    high.push_back(rng_.between(-std::min<int64_t>(2, left), 3));
    dims.push_back(left + high.back());
  }
  if (!fits(dims)) return;
  const Value value = like({type.dtype, {}});
  emit<primitives::Pad>({x, value}, {{"high", high}, {"interior", interior}, {"low", low}});
}

void Generator::concatenate(Value x) {
  const Type type = graph_.type(x);
  if (type.shape.rank() == 0 || !enabled("concatenate")) return;
  const size_t axis = rng_.below(type.shape.size());
  ValueList operands = {x};
  int64_t extent = type.shape[axis];
  const auto more = rng_.between(0, 3);
  for (int64_t i = 0; i < more; ++i) {
    const int64_t part = rng_.between(0, 4);
    const Shape s = type.shape.with(axis, extent + part);
    if (!fits(List(s.begin(), s.end()))) break;
    extent += part;
    operands.push_back(like({type.dtype, type.shape.with(axis, part)}));
  }
  emit<primitives::Concatenate>(std::move(operands), {{"axis", static_cast<int64_t>(axis)}});
}

// ---- reductions

void Generator::reduction() {
  const size_t kind = rng_.below(100);
  if (kind < 20) return cumulative();
  if (kind < 35) return arg_extremum();
  if (kind < 60) return dot_general();
  struct Reduction {
    const Primitive* primitive;
    primitives::DTypeSet accepted;
    bool reassociated;
  };
  static const Reduction kReductions[] = {
      {&primitives::get<primitives::ReduceSum>(), primitives::kReal, true},
      {&primitives::get<primitives::ReduceProd>(), primitives::kReal, true},
      {&primitives::get<primitives::ReduceMax>(), kReal | kBool, false},
      {&primitives::get<primitives::ReduceMin>(), kReal | kBool, false},
      {&primitives::get<primitives::ReduceAnd>(), primitives::kInteger | kBool, false},
      {&primitives::get<primitives::ReduceOr>(), primitives::kInteger | kBool, false},
  };
  const Reduction& r = rng_.pick(kReductions);
  const auto x = draw(r.accepted);
  if (!x || !enabled(r.primitive->name) || (r.reassociated && !may_reassociate(graph_.dtype(*x)))) return;
  const List axes = subset(graph_.shape(*x).size(), 50);
  emit(*r.primitive, {*x}, {{"axes", axes}});
}

void Generator::cumulative() {
  static const Primitive* const kCumulative[] = {
      &primitives::get<primitives::Cumsum>(), &primitives::get<primitives::Cumprod>(),
      &primitives::get<primitives::Cummax>(), &primitives::get<primitives::Cummin>()};
  const size_t which = rng_.below(4);
  const auto x = draw(which < 2 ? kReal : primitives::DTypeSet(kReal | kBool), 1);
  if (!x || !enabled(kCumulative[which]->name) || (which < 2 && !may_reassociate(graph_.dtype(*x)))) return;
  const auto axis = static_cast<int64_t>(rng_.below(graph_.shape(*x).size()));
  const bool reverse = rng_.chance(40);
  emit(*kCumulative[which], {*x}, {{"axis", axis}, {"reverse", reverse}});
}

void Generator::arg_extremum() {
  const auto x = draw(kReal | kBool, 1);
  const bool max = rng_.chance(50);
  if (!x || !jumps(graph_.dtype(*x)) || !enabled(max ? "argmax" : "argmin")) return;
  const size_t axis = rng_.below(graph_.shape(*x).size());
  if (graph_.shape(*x)[axis] == 0) return;
  const DType d = rng_.chance(70) ? DType::i32 : DType::i64;
  Attributes attributes{{"axis", static_cast<int64_t>(axis)}, {"dtype", d}};
  if (max) {
    emit<primitives::Argmax>({*x}, std::move(attributes));
  } else {
    emit<primitives::Argmin>({*x}, std::move(attributes));
  }
}

void Generator::dot_general() {
  const Value a = any();
  const Type type = graph_.type(a);
  if (!may_reassociate(type.dtype) || !enabled("dot_general")) return;
  List lhs_batch, lhs_contract, free_extents;
  int64_t result = 1;
  for (size_t d = 0; d < type.shape.size(); ++d) {
    const size_t kind = rng_.below(3);
    if (kind == 0) {
      lhs_batch.push_back(static_cast<int64_t>(d));
    } else if (kind == 1) {
      lhs_contract.push_back(static_cast<int64_t>(d));
    }
    if (kind != 1) result *= std::max<int64_t>(type.shape[d], 1);
  }
  rng_.shuffle(lhs_batch);
  rng_.shuffle(lhs_contract);
  // The dimensions of b in random order: (extent, its list, position in that list).
  struct Dimension {
    int64_t extent;
    int kind;
    size_t position;
  };
  std::vector<Dimension> dims;
  for (size_t i = 0; i < lhs_batch.size(); ++i) dims.push_back({type.shape[static_cast<size_t>(lhs_batch[i])], 0, i});
  for (size_t i = 0; i < lhs_contract.size(); ++i) {
    dims.push_back({type.shape[static_cast<size_t>(lhs_contract[i])], 1, i});
  }
  const auto free = rng_.between(0, 2);
  for (int64_t i = 0; i < free; ++i) {
    dims.push_back({rng_.between(rng_.chance(5) ? 0 : 1, 5), 2, 0});
    result *= std::max<int64_t>(dims.back().extent, 1);
  }
  rng_.shuffle(dims);
  List extents, rhs_batch(lhs_batch.size()), rhs_contract(lhs_contract.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    extents.push_back(dims[d].extent);
    if (dims[d].kind == 0) rhs_batch[dims[d].position] = static_cast<int64_t>(d);
    if (dims[d].kind == 1) rhs_contract[dims[d].position] = static_cast<int64_t>(d);
  }
  const size_t result_rank = type.shape.size() - lhs_contract.size() + static_cast<size_t>(free);
  if (!fits(extents) || result > options_.max_elements || static_cast<int>(result_rank) > options_.max_rank) return;
  const Value b = like({type.dtype, Shape(extents)});
  emit<primitives::DotGeneral>({a, b}, {{"lhs_batch", lhs_batch},
                                        {"lhs_contract", lhs_contract},
                                        {"rhs_batch", rhs_batch},
                                        {"rhs_contract", rhs_contract}});
}

}  // namespace calque::test
