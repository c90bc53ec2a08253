#pragma once
// Products of labelled arrays, of which matmul, tensordot and einsum are made. A label names a dimension; labels of one
// array are distinct; equal labels of two arrays have equal extents.
#include <vector>

#include "frontend/ops/common.h"

namespace calque::detail::ops {

using Labels = std::vector<int>;

/// An array whose dimensions have names.
struct Labelled {
  Handle value;
  Labels labels;
};

/// Sums over the dimensions whose labels are not in `keep`.
Labelled sum_away(const Labelled& x, const Labels& keep, const Site& site);
/// x transposed so that its labels are `order`, a permutation of them.
Handle in_order(const Labelled& x, const Labels& order, const Site& site);
/// The product over shared labels, summed over those that are not in `keep`; dimensions in any order.
Labelled contract(Labelled a, Labelled b, const Labels& keep, const Site& site);

}  // namespace calque::detail::ops
