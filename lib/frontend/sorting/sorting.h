#pragma once
// What the functions that sort share. The primitive sorts rows [..., n]; here axes are moved and elements checked.
#include "calque/detail/sorting.h"

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {

/// What a sort of rows gives.
struct SortForm {
  bool descending = false;
  bool values = true;
  bool indices = false;
  int64_t limit = -1;  ///< the first in order; -1: all
};
/// The sorted keys, then the order, as the form says.
std::vector<Handle> sorted_rows(std::span<const Handle> keys, const SortForm& form, const Site& s);

/// The operand. DTypeError for complex numbers.
Handle ordered_operand(const Operand& x, const Site& s);
/// x with the axis as the last one, and back.
Handle axis_last(Handle x, int axis, const Site& s);
Handle axis_back(Handle x, int axis, const Site& s);

/// The elements of a row [..., n] at indices [..., k], all of which are inside.
Handle at_indices(Handle x, Handle indices, const Site& s);

/// Throws ShapeError for a negative size.
void check_size(int64_t size, std::string_view what, const Site& s);

}  // namespace calque::detail::ops
