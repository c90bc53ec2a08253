#pragma once
// The host-side functions of Array<T>, type-erased: checks, creation, comparison, files.
#include <span>
#include <string>

#include "calque/detail/axes.h"
#include "calque/detail/leaf_view.h"
#include "calque/ir/any_array.h"
#include "calque/ir/errors.h"
#include "calque/ir/location.h"

namespace calque::detail {

/// Throws ShapeError for the use of a default-constructed array.
[[noreturn]] void throw_empty_array(Location location);
/// Throws DTypeError for an array that is not of `dtype`.
[[noreturn]] void throw_wrong_dtype(const AnyArray& array, DType dtype);
/// Throws DTypeError for a tracer that is not of `dtype`.
void require_dtype(const Type& type, DType dtype, Location location);
/// The row-major elements on the host. Throws DeviceError when they cannot be read.
const void* host_data(const AnyArray& array, Location location);
/// The single element. Throws ShapeError unless there is exactly one.
const void* only_element(const AnyArray& array, Location location);
/// The elements of an array of rank 1. Throws ShapeError for another rank.
const void* list_data(const AnyArray& array, Location location);
/// The row-major offset of an element. Throws ShapeError for a wrong number of indices or one out of bounds.
int64_t element_offset(const Type& type, std::span<const int64_t> indices, Location location);
/// The extents as a shape. Throws ShapeError for one that is negative.
Shape shape_of(std::string_view operation, const Counts& extents, Location location);
/// The extents that `reshape` gives an array of this type: one may be -1 and is inferred from the others. Throws
/// ShapeError when it would not be a whole number, and for other negative extents.
std::vector<int64_t> inferred_extents(std::span<const int64_t> extents, const Type& type, Location location);
/// The same elements with another shape; one extent may be -1. Throws ShapeError when the numbers of elements differ.
AnyArray reshaped(const AnyArray& array, std::span<const int64_t> extents, Location location);
/// The array on `device`. Throws DeviceError when the device is not available.
AnyArray to_device(const AnyArray& array, Device device, Location location);
/// Throws ShapeError unless `count` elements make up `shape`.
Shape shape_of_elements(size_t count, std::span<const int64_t> extents, Location location);

/// Throws DTypeError if `dtype` is an integer type that cannot hold n - 1.
void require_counts(std::string_view operation, int64_t n, DType dtype, Location location);
/// start, start + step, ... as `dtype`, n elements. Throws ShapeError for a negative n.
AnyArray arange(DType dtype, double start, double step, int64_t n, Location location);
/// n evenly spaced elements, both ends included.
AnyArray linspace(DType dtype, double low, double high, int64_t n, bool endpoint, Location location);
/// The identity matrix.
AnyArray eye(DType dtype, int64_t n, Location location);

bool allclose(const AnyArray& a, const AnyArray& b, double rtol, double atol, bool equal_nan, Location location);
bool array_equal(const AnyArray& a, const AnyArray& b, bool equal_nan, Location location);
void save_npy(const std::string& path, const AnyArray& array, Location location);
/// Loads an array of a file. Throws DTypeError when its elements are not of `wanted`, ParseError for a damaged file.
AnyArray load_npy(const std::string& path, DType wanted, Location location);

}  // namespace calque::detail
