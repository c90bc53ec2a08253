#pragma once
// Type-erased indexing by a list of items, which may be known only at run time.
#include <cstdint>
#include <span>
#include <vector>

#include "calque/detail/operand.h"

namespace calque::detail {

/// One item of an index list.
struct IndexItem {
  enum class Kind : uint8_t { integer, all, newaxis, range, array };
  Kind kind = Kind::all;
  bool has_start = false, has_stop = false;  ///< of a range
  int64_t start = 0;                         ///< of a range; the value of an integer
  int64_t stop = 0;
  int64_t step = 1;
  Handle handle;   ///< of an array item that is a tracer
  AnyArray array;  ///< of an array item with data; empty when `handle` is used

  static IndexItem integer(int64_t value) {
    IndexItem item;
    item.kind = Kind::integer;
    item.start = value;
    return item;
  }
  static IndexItem newaxis() {
    IndexItem item;
    item.kind = Kind::newaxis;
    return item;
  }
  Operand operand() const { return array.empty() ? Operand(handle) : Operand(array); }
};

/// NumPy's x[items]. Items consume the dimensions of x from the left (newaxis consumes none); the remaining dimensions
/// are taken whole. Integers are checked; negative ones wrap once. Arrays of integers broadcast together; the broadcast
/// dimensions take the position of the first array or integer if these are adjacent, else they come first, as in NumPy.
/// Negative array indices wrap once; indices that are then out of bounds read NaN, the lowest signed, the greatest
/// unsigned integer or true. Without arrays the result is made by slices, reversals and reshapes alone. Throws
/// ShapeError for too many items, an integer out of bounds, a step of zero, or arrays that do not broadcast; DTypeError
/// for an index array that is not of integers.
Handle index_at(const Operand& x, std::span<const IndexItem> items, Location location);

/// One element, a scalar: an integer or integer scalar for each dimension. Throws ShapeError for other items, as
/// `index_at` otherwise.
Handle element_at(const Operand& x, std::span<const IndexItem> items, Location location);

/// x with x[items] replaced by `value`, which promotes to x's dtype and broadcasts to the selected shape. Updates out
/// of bounds are dropped; of several updates of one element the last in row-major order wins. Throws as `index_at`, and
/// DTypeError when the value does not fit x's dtype.
Handle index_set(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location);

/// x with `value` added to x[items]; repeated indices accumulate. Throws as `index_set`.
Handle index_add(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location);

/// x with x[items] multiplied by `value`, or replaced by the lesser or greater of both; repeated indices accumulate.
/// Throws as `index_set`, and DTypeError for dtypes without product (bool) or order (complex).
Handle index_mul(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location);
Handle index_min(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location);
Handle index_max(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location);

/// The same functions of arrays, run at once.
AnyArray run_index_at(const AnyArray& x, std::span<const IndexItem> items, Location location);
AnyArray run_index_set(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location);
AnyArray run_index_add(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location);
AnyArray run_index_mul(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location);
AnyArray run_index_min(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location);
AnyArray run_index_max(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location);

}  // namespace calque::detail
