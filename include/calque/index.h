#pragma once
// The arguments of `x.at(...)`. Every item becomes a detail::IndexItem; the rules that turn a list of items into
// equations are compiled once, in lib/frontend/ops/indexing.cpp.
#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "calque/detail/indexing.h"
#include "calque/detail/promotion.h"
#include "calque/detail/typed_operand.h"

/// The message of an update without a value, as in JAX's x.at[i].set(v).
#define CALQUE_UPDATE_NEEDS_INDEX(f) \
  "calque: " #f " takes the indices and then the value: write x." #f "(i, v), not x.at(i)." #f "(v)"

namespace calque {

/// The type of `cq::none`, an absent end of a range or, in options, "not this argument".
struct none_t {};
/// The absent end of a range: `range(none, 3)` are the first three elements.
inline constexpr none_t none{};
/// The end of a dimension in a range: `range(1, end)`, as `none`.
inline constexpr none_t end{};

/// The type of `cq::newaxis`, a new dimension of extent 1 in an index list.
struct newaxis_t {};
/// A new dimension of extent 1: `x.at(cq::newaxis, cq::all)`.
inline constexpr newaxis_t newaxis{};

/// The type of `cq::all`: a whole dimension in an index list, and, called, the reduction.
struct all_t;

/// An end of a range: an integer or `none`.
struct Bound {
  std::optional<int64_t> value;
  Bound(none_t) {}
  template <std::integral I>
  Bound(I i) : value(static_cast<int64_t>(i)) {}
  template <class I>
  Bound(const Tracer<I>&) {
    static_assert(sizeof(I) == 0,
                  "calque: the ends of a range are C++ numbers, since shapes are known while tracing; for a part whose "
                  "extent is computed use a mask over the whole, as in where(cq::iota(n) < j, row, 0.0), for a part of "
                  "fixed extent at a computed offset dynamic_slice(x, {j}, {extent})");
  }
};

/// Python's slice start:stop:step. Negative ends count from the end of the dimension, ends beyond it are clamped, a
/// negative step iterates backwards. A step of 0 throws ShapeError when the range is used.
struct Range {
  Bound start, stop;
  int64_t step;
};
/// The range start:stop:step; `cq::none` for an end that is omitted.
inline Range range(Bound start, Bound stop, int64_t step = 1) { return {start, stop, step}; }
/// The range from `start` to the end of the dimension.
inline Range range(Bound start) { return {start, none, 1}; }

/// One item of an index list and the line where it was written: an integer (negative: from the end), an integer array
/// or tracer, `all`, `newaxis` or a `range`.
struct Index {
  detail::IndexItem item;
  Location location;

  template <std::integral I>
  Index(I i, Loc loc = Loc::current()) : location(loc) {
    static_assert(!std::same_as<I, bool>, "calque: an index cannot be a bool");
    item.kind = detail::IndexItem::Kind::integer;
    item.start = static_cast<int64_t>(i);
  }
  template <class I>
  Index(const Tracer<I>& indices, Loc loc = Loc::current()) : location(loc) {
    check_integer<I>();
    item.kind = detail::IndexItem::Kind::array;
    item.handle = indices.handle();
  }
  template <class I>
  Index(const Array<I>& indices, Loc loc = Loc::current()) : location(loc) {
    check_integer<I>();
    item.kind = detail::IndexItem::Kind::array;
    item.array = indices.any(loc);
  }
  Index(const all_t&, Loc loc = Loc::current()) : location(loc) { item.kind = detail::IndexItem::Kind::all; }
  Index(newaxis_t, Loc loc = Loc::current()) : location(loc) { item.kind = detail::IndexItem::Kind::newaxis; }
  Index(Range range, Loc loc = Loc::current()) : location(loc) {
    item.kind = detail::IndexItem::Kind::range;
    item.has_start = range.start.value.has_value();
    item.start = range.start.value.value_or(0);
    item.has_stop = range.stop.value.has_value();
    item.stop = range.stop.value.value_or(0);
    item.step = range.step;
  }

 private:
  template <class I>
  static constexpr void check_integer() {
    static_assert(
        !std::same_as<I, bool>,
        "calque: a mask cannot be an index, since how many elements it selects is not known while tracing; use "
        "where(mask, x, other)");
    static_assert(std::same_as<I, bool> || (IntegerElem<I>), "calque: indices must be integers; cast them");
  }
};

namespace detail {

/// A first index that is not a tracer: an array indexed with it gives an array.
struct ArrayIndex : Index {
  template <class X>
    requires(!TracerLike<X> && std::convertible_to<const X&, Index>)
  ArrayIndex(const X& x, Loc loc = Loc::current()) : Index(x, loc) {}
};
/// A first index that is a tracer: an array indexed with it gives a tracer.
struct TracerIndex : Index {
  template <class I>
  TracerIndex(const Tracer<I>& x, Loc loc = Loc::current()) : Index(x, loc) {}
};

/// Appends the items of an index list.
template <class... R>
void add_index_items(std::vector<IndexItem>& items, const R&... rest) {
  static_assert((std::convertible_to<const R&, Index> && ...),
                "calque: an index is an integer, an integer array, cq::all, cq::range(...) or cq::newaxis");
  (items.push_back(Index(rest, Loc()).item), ...);
}
template <class... R>
std::vector<IndexItem> index_items(const Index& first, const R&... rest) {
  std::vector<IndexItem> items;
  items.reserve(1 + sizeof...(R));
  items.push_back(first.item);
  add_index_items(items, rest...);
  return items;
}

/// The arguments of `x.set(index..., value)` as items and value.
template <class T, class... R>
struct Update {
  static_assert(sizeof...(R) > 0, CALQUE_UPDATE_NEEDS_INDEX(set));
  using Value = std::tuple_element_t<sizeof...(R) - 1, std::tuple<R...>>;
  static_assert(ArrayLike<Value> || detail::Number<Value>,
                "calque: the last argument of set and add is the value: an array or a number");
  static_assert(!(ArrayLike<Value> || detail::Number<Value>) || std::same_as<promoted_elem_t<Array<T>, Value>, T>,
                "calque: the value's type does not promote to the array's; cast it");

  std::vector<IndexItem> items;
  Operand value;

  Update(const Index& first, const R&... rest)
      : items(collect(first, std::tie(rest...), std::make_index_sequence<sizeof...(R) - 1>())),
        value(operand_of(std::get<sizeof...(R) - 1>(std::tie(rest...)), first.location)) {}

 private:
  template <size_t... I>
  static std::vector<IndexItem> collect(const Index& first, const std::tuple<const R&...>& rest,
                                        std::index_sequence<I...>) {
    return index_items(first, std::get<I>(rest)...);
  }
};

}  // namespace detail
}  // namespace calque
