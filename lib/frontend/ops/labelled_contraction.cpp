#include "frontend/ops/labelled_contraction.h"

#include <algorithm>

namespace calque::detail::ops {
namespace {

bool has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

int64_t position(const Labels& labels, int label) {
  return static_cast<int64_t>(std::ranges::find(labels, label) - labels.begin());
}

/// A product without contracted dimensions: a broadcast multiplication, which fuses.
Labelled product(const Labelled& a, const Labelled& b, const Site& s) {
  Labelled out{{}, a.labels};
  const Shape sa = shape(a.value), sb = shape(b.value);
  Ints dims(sa.begin(), sa.end());
  for (size_t i = 0; i < b.labels.size(); ++i) {
    if (has(a.labels, b.labels[i])) continue;
    out.labels.push_back(b.labels[i]);
    dims.push_back(sb[i]);
  }
  // b's labels in the order of the result.
  Labels order;
  for (int label : out.labels) {
    if (has(b.labels, label)) order.push_back(label);
  }
  const auto to_result = [&](Handle v, const Labels& labels) {
    Ints axes;
    for (int label : labels) axes.push_back(position(out.labels, label));
    return broadcast_in(v, Shape(dims), axes, s);
  };
  out.value = multiply(to_result(a.value, a.labels), to_result(in_order(b, order, s), order), s.at);
  return out;
}

}  // namespace

Labelled sum_away(const Labelled& x, const Labels& keep, const Site& s) {
  Labelled out{x.value, {}};
  Ints axes;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (has(keep, x.labels[i])) {
      out.labels.push_back(x.labels[i]);
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return out;
  // A sum of bools is a logical or.
  out.value = is_bool(dtype(x.value)) ? emit<prim::ReduceOr>(s, {x.value}, {{"axes", axes}})
                                      : emit<prim::ReduceSum>(s, {x.value}, {{"axes", axes}});
  return out;
}

Handle in_order(const Labelled& x, const Labels& order, const Site& s) {
  Ints perm;
  for (int label : order) perm.push_back(position(x.labels, label));
  return transpose(x.value, perm, s);
}

Labelled contract(Labelled a, Labelled b, const Labels& keep, const Site& s) {
  Labels wanted_a = keep, wanted_b = keep;
  wanted_a.insert(wanted_a.end(), b.labels.begin(), b.labels.end());
  wanted_b.insert(wanted_b.end(), a.labels.begin(), a.labels.end());
  a = sum_away(a, wanted_a, s);
  b = sum_away(b, wanted_b, s);
  Ints a_batch, b_batch, a_contract, b_contract;
  Labels result;
  for (size_t i = 0; i < a.labels.size(); ++i) {
    const int label = a.labels[i];
    if (!has(b.labels, label)) continue;
    const bool kept = has(keep, label);
    (kept ? a_batch : a_contract).push_back(static_cast<int64_t>(i));
    (kept ? b_batch : b_contract).push_back(position(b.labels, label));
    if (kept) result.push_back(label);
  }
  if (a_contract.empty()) return product(a, b, s);
  for (int label : a.labels) {
    if (!has(b.labels, label)) result.push_back(label);
  }
  for (int label : b.labels) {
    if (!has(a.labels, label)) result.push_back(label);
  }
  const Handle value = emit<prim::DotGeneral>(
      s, {a.value, b.value},
      {{"lhs_batch", a_batch}, {"lhs_contract", a_contract}, {"rhs_batch", b_batch}, {"rhs_contract", b_contract}});
  return {value, result};
}

}  // namespace calque::detail::ops
