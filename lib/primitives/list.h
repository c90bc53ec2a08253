#pragma once
// The list of all primitives. A primitive's id is its index in this list: a compile-time constant for `switch`, which
// must not be stored across versions.
#include "ir/fork.h"
#include "primitives/contraction/dot_general.h"
#include "primitives/control/collectives.h"
#include "primitives/control/control.h"
#include "primitives/control/effects.h"
#include "primitives/elementwise/arithmetic.h"
#include "primitives/elementwise/compare_logic.h"
#include "primitives/elementwise/convert.h"
#include "primitives/elementwise/math.h"
#include "primitives/elementwise/random_bits.h"
#include "primitives/indexing/indexing.h"
#include "primitives/linalg/linalg.h"
#include "primitives/reduction/reduction.h"
#include "primitives/shape/shape.h"
#include "primitives/sorting/sort.h"
#include "primitives/spectral/fft.h"

namespace calque::primitives {

/// The families, each of which registers its primitives in its source file.
using Families = TypeList<ArithmeticList, CompareLogicList, MathList, ConvertList, ShapeList, IndexingList,
                          ReductionList, ContractionList, ControlList, EffectsList, RandomBitsList, LinalgList,
                          SortingList, CollectivesList, SpectralList>;

namespace detail {
template <class... Lists>
concatenate_lists<Lists...> joined(TypeList<Lists...>);
}

/// All primitives, family by family.
using PrimitiveList = decltype(detail::joined(Families{}));

namespace detail {
template <class P, class... All>
constexpr PrimitiveId position(TypeList<All...>) {
  constexpr bool kIs[] = {std::is_same_v<P, All>...};
  for (PrimitiveId i = 0; i < sizeof...(All); ++i) {
    if (kIs[i]) return i;
  }
  return UINT16_MAX;
}
template <class... All>
constexpr size_t count(TypeList<All...>) {
  return sizeof...(All);
}
}  // namespace detail

/// Number of primitives.
inline constexpr size_t kPrimitiveCount = detail::count(PrimitiveList{});

/// The id of a primitive, for `switch (equation.id()) { case id_of<Add>: ...`.
template <class P>
inline constexpr PrimitiveId id_of = [] {
  constexpr PrimitiveId kId = detail::position<P>(PrimitiveList{});
  static_assert(kId != UINT16_MAX, "this primitive is in no family's list");
  return kId;
}();

/// The descriptor of a primitive, for Graph::append.
template <class P>
const Primitive& get() {
  return process_wide([] { return &primitive(id_of<P>); });
}

}  // namespace calque::primitives
