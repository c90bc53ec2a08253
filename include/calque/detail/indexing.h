#pragma once
// Indexing by a list of items, type-erased. Usable with lists that are known only at run time.
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
  AnyArray array;  ///< of an array item with data; empty when `handle` counts

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

/// x[items] of Python. Items use up the dimensions of x from the left (newaxis none of them), dimensions that are left
/// over are taken whole. Integers are checked and wrap once when negative. Arrays of integers broadcast together; their
/// dimensions stand where the first of them stood when they are neighbours, else first of all (integers beside arrays
/// count as arrays in this, as in NumPy); they wrap once when negative, and what is out of bounds then reads NaN, the
/// lowest signed, the greatest unsigned integer or true. Without arrays the result is made by slices, reversals and
/// reshapes alone. Throws ShapeError for too many items, an index out of bounds, a step of zero, arrays that do not
/// broadcast; DTypeError for an index array that is not of integers.
Handle index_at(const Operand& x, std::span<const IndexItem> items, Location location);

/// x with x[items] replaced by `value`, which converts to x's dtype and broadcasts to the selected shape. Updates out
/// of bounds are dropped; of several to one element the last in row-major order stays. Throws as `index_at` does.
Handle index_set(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location);

/// x with `value` added to x[items]; several additions to one element all count.
Handle index_add(const Operand& x, std::span<const IndexItem> items, const Operand& value, Location location);

/// The same on arrays alone, at once.
AnyArray run_index_at(const AnyArray& x, std::span<const IndexItem> items, Location location);
AnyArray run_index_set(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location);
AnyArray run_index_add(const AnyArray& x, std::span<const IndexItem> items, const Operand& value, Location location);

}  // namespace calque::detail
