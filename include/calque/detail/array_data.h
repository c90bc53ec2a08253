#pragma once
// What Array<T> does with its data on the host, type-erased: checks, creation, comparison, files.
#include <span>
#include <string>

#include "calque/axes.h"
#include "calque/detail/leaf_view.h"
#include "calque/ir/any_array.h"
#include "calque/ir/errors.h"
#include "calque/ir/location.h"

namespace calque::detail {

/// Throws ShapeError: a default-constructed array was used.
[[noreturn]] void throw_empty_array(Location location);
/// Throws DTypeError: an array of `dtype` was expected.
[[noreturn]] void throw_wrong_dtype(const AnyArray& array, DType dtype);
/// Row-major elements on the host. Throws DeviceError where they cannot be read.
const void* host_data(const AnyArray& array, Location location);
/// The one element. Throws ShapeError when there are more or none.
const void* only_element(const AnyArray& array, Location location);
/// Row-major position of an element. Throws ShapeError for a wrong number of indices or one out of bounds.
int64_t element_offset(const Type& type, std::span<const int64_t> indices, Location location);
/// The extents as a shape. Throws ShapeError for one that is negative.
Shape shape_of(std::string_view operation, const Counts& extents, Location location);
/// The extents that `reshape` gives an array of this type: one may be -1, which is what the others leave. Throws
/// ShapeError when it is not a whole number, and for other negative extents.
std::vector<int64_t> inferred_extents(std::span<const int64_t> extents, const Type& type, Location location);
/// The same elements under another shape, of which one extent may be -1. Throws ShapeError when the counts differ.
AnyArray reshaped(const AnyArray& array, std::span<const int64_t> extents, Location location);
/// The array on `device`. Throws DeviceError for a device that is not there.
AnyArray to_device(const AnyArray& array, Device device, Location location);
/// Throws ShapeError unless `count` elements make up `shape`.
void check_count(std::string_view operation, size_t count, const Shape& shape, Location location);

/// Throws DTypeError unless 0, ..., n - 1 are numbers of an integer `dtype`. Other types pass.
void require_counts(std::string_view operation, int64_t n, DType dtype, Location location);
/// start, start + step, ... as `dtype`, n elements. Throws ShapeError for a negative n.
AnyArray arange(DType dtype, double start, double step, int64_t n, Location location);
/// n evenly spaced elements, both ends included.
AnyArray linspace(DType dtype, double low, double high, int64_t n, Location location);
/// The identity matrix.
AnyArray eye(DType dtype, int64_t n, Location location);

bool allclose(const AnyArray& a, const AnyArray& b, double rtol, double atol, bool equal_nan, Location location);
bool array_equal(const AnyArray& a, const AnyArray& b, bool equal_nan, Location location);
void save_npy(const std::string& path, const AnyArray& array, Location location);
/// The array of a file, whose elements have to be of `wanted`.
AnyArray load_npy(const std::string& path, DType wanted, Location location);

}  // namespace calque::detail
