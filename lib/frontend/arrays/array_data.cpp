// Arrays on the host: the functions of Array<T> that need no graph.
#include "calque/detail/array_data.h"

#include <cmath>
#include <string>

#include "calque/detail/apply.h"
#include "calque/detail/braces.h"
#include "calque/detail/typed_operand.h"
#include "calque/device.h"
#include "calque/tracer.h"

#include "frontend/ops/common.h"
#include "trace/branches/questions.h"
#include "trace/builder.h"

namespace calque::detail {
namespace {

std::string elements_text(int64_t count) { return std::to_string(count) + (count == 1 ? " element" : " elements"); }

void require_extent(std::string_view operation, int64_t n, Location location) {
  if (n < 0) {
    throw ShapeError(std::string(operation) + ": the number of elements cannot be negative, got " + std::to_string(n) +
                     where_text(location));
  }
}

template <class T>
T element_from(double value) {
  if constexpr (std::same_as<T, bool>) {
    return value != 0;
  } else if constexpr (is_complex(dtype_of<T>)) {
    return T(static_cast<typename T::value_type>(value));
  } else if constexpr (is_floating(dtype_of<T>)) {
    return round_once<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

/// An array of n elements f(0), f(1), ...
template <class F>
AnyArray generate(DType dtype, int64_t n, F&& f) {
  AnyArray array = AnyArray::uninitialized({dtype, Shape{n}});
  visit_dtype(dtype, [&]<class T>() {
    T* out = static_cast<T*>(array.mutable_data());
    for (int64_t i = 0; i < n; ++i) out[i] = element_from<T>(f(i));
  });
  return array;
}

}  // namespace

void require_counts(std::string_view operation, int64_t n, DType dtype, Location location) {
  const bool fits = visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) return n == 0 || std::in_range<T>(n - 1);
    return true;
  });
  if (fits) return;
  throw DTypeError(std::string(operation) + ": " + std::to_string(n) + " numbers from 0 do not fit " +
                   std::string(name(dtype)) + "; count in a wider type" + where_text(user_location(location)));
}

void throw_empty_array(Location location) {
  throw ShapeError("array: it is empty, having been default-constructed; give it elements before it is used" +
                   where_text(location));
}

void throw_wrong_dtype(const AnyArray& array, DType dtype) {
  throw DTypeError("array: elements of " + std::string(name(dtype)) + " were expected, got " + to_string(array.type()));
}

void require_dtype(const Type& type, DType dtype, Location location) {
  if (type.dtype == dtype) return;
  throw DTypeError("as: elements of " + std::string(name(dtype)) + " were expected, got " + to_string(type) +
                   where_text(user_location(location)));
}

const void* host_data(const AnyArray& array, Location location) {
  if (!array.has_data()) {
    throw DeviceError("host: only the hash of " + to_string(array.type()) + " is known, not its elements" +
                      where_text(location));
  }
  return array.data();
}

const void* only_element(const AnyArray& array, Location location) {
  if (array.size() != 1) {
    throw ShapeError("item: an array of one element was expected, got " + to_string(array.type()) + " with " +
                     elements_text(array.size()) + (is_bool(array.dtype()) ? "; use all(x) or any(x)" : "") +
                     where_text(location));
  }
  return host_data(array, location);
}

int64_t element_offset(const Type& type, std::span<const int64_t> indices, Location location) {
  if (indices.size() != type.shape.size()) {
    throw ShapeError("array: " + to_string(type) + " takes " + std::to_string(type.shape.size()) +
                     (type.shape.size() == 1 ? " index" : " indices") + ", got " + std::to_string(indices.size()) +
                     where_text(location));
  }
  int64_t offset = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= type.shape[i]) {
      throw ShapeError("array: index " + std::to_string(indices[i]) + " is out of bounds for dimension " +
                       std::to_string(i) + " of " + to_string(type) + where_text(location));
    }
    offset = offset * type.shape[i] + indices[i];
  }
  return offset;
}

void require_vectors(std::string_view member, const Shape& a, const Shape& b, Location location) {
  if (a.rank() == 1 && a == b) return;
  throw ShapeError(std::string(member) + ": x." + std::string(member) + "(y) takes two vectors of one extent, got " +
                   to_string(a) + " and " + to_string(b) + "; matmul multiplies matrices" +
                   where_text(user_location(location)));
}
void require_transposable(const Shape& shape, Location location) {
  if (shape.rank() != 1) return;
  throw ShapeError(
      "transpose: x.transpose() of a vector " + to_string(shape) +
      " would be a row in Eigen and x itself in NumPy; write dot(x, y) or outer(x, y), or x.reshape({1, -1})"
      " for a row" +
      where_text(user_location(location)));
}
int64_t rows_of(const Shape& shape, Location location) {
  if (shape.rank() <= 2) return shape.empty() ? 1 : shape[0u];
  throw ShapeError("rows: " + to_string(shape) + " is no matrix; write x.shape()[i]" +
                   where_text(user_location(location)));
}
int64_t columns_of(const Shape& shape, Location location) {
  if (shape.rank() <= 2) return shape.rank() < 2 ? 1 : shape[1u];
  throw ShapeError("cols: " + to_string(shape) + " is no matrix; write x.shape()[i]" +
                   where_text(user_location(location)));
}

Shape shape_of(std::string_view operation, const Counts& extents, Location location) {
  for (int64_t d : extents.list) {
    if (d >= 0) continue;
    throw ShapeError(std::string(operation) + ": an extent is at least 0, got " + std::to_string(d) +
                     where_text(user_location(location)));
  }
  return Shape(extents.list);
}

namespace {

/// The extents with the one inferred for which -1 stands; `got` has `count` elements.
std::vector<int64_t> extents_for(std::string_view operation, std::span<const int64_t> extents, const std::string& got,
                                 int64_t count, Location location) {
  std::vector<int64_t> all(extents.begin(), extents.end());
  const auto fail = [&](const std::string& text) {
    std::string list;
    for (int64_t d : extents) list += (list.empty() ? "" : ",") + std::to_string(d);
    throw ShapeError(std::string(operation) + ": " + text + ", got " + got + " for shape [" + list + "]" +
                     where_text(user_location(location)));
  };
  int64_t* unknown = nullptr;
  int64_t known = 1;
  bool fits = true;
  for (int64_t& d : all) {
    if (d < -1) fail("an extent is at least 0, or -1 where it follows from the others");
    if (d == -1 && unknown != nullptr) fail("only one extent can be -1");
    if (d == -1) {
      unknown = &d;
    } else if (__builtin_mul_overflow(known, d, &known)) {
      fits = false;
    }
  }
  if (unknown == nullptr) return all;
  if (!fits || known == 0 || count % known != 0) fail("the extent for which -1 stands would not be a whole number");
  *unknown = count / known;
  return all;
}

}  // namespace

std::vector<int64_t> inferred_extents(std::span<const int64_t> extents, const Type& type, Location location) {
  return extents_for("reshape", extents, to_string(type), type.shape.num_elements(), location);
}

AnyArray reshaped(const AnyArray& array, std::span<const int64_t> extents, Location location) {
  const Shape shape(inferred_extents(extents, array.type(), location));
  if (shape.num_elements() != array.size()) {
    throw ShapeError("reshape: " + elements_text(array.size()) + " of " + to_string(array.type()) +
                     " do not fit shape " + to_string(shape) + where_text(location));
  }
  return AnyArray({array.dtype(), shape}, array.storage(), array.device());
}

AnyArray to_device(const AnyArray& array, Device device, Location location) {
  return copy_to_device("to", array, device, location);
}

Shape shape_of_elements(size_t count, std::span<const int64_t> extents, Location location) {
  const auto n = static_cast<int64_t>(count);
  const Shape shape(extents_for("from", extents, elements_text(n), n, location));
  if (n != shape.num_elements()) {
    throw ShapeError("from: shape " + to_string(shape) + " takes " + elements_text(shape.num_elements()) + ", got " +
                     std::to_string(count) + where_text(location));
  }
  return shape;
}

AnyArray arange(DType dtype, double start, double step, int64_t n, Location location) {
  require_extent("arange", n, location);
  require_counts("arange", n, dtype, location);
  return generate(dtype, n, [&](int64_t i) { return start + step * static_cast<double>(i); });
}

AnyArray linspace(DType dtype, double low, double high, int64_t n, bool endpoint, Location location) {
  require_extent("linspace", n, location);
  const int64_t last = endpoint ? n - 1 : n;
  const double step = last > 0 ? (high - low) / static_cast<double>(last) : 0;
  return generate(dtype, n,
                  [&](int64_t i) { return i != 0 && i == last ? high : low + step * static_cast<double>(i); });
}

AnyArray eye(DType dtype, int64_t n, Location location) {
  require_extent("eye", n, location);
  const Shape shape{n, n};
  const AnyArray flat = generate(dtype, shape.num_elements(), [&](int64_t i) { return i % (n + 1) == 0; });
  return AnyArray({dtype, shape}, flat.storage());
}

AnyArray run_unary(std::string_view name, UnaryFunction function, const Operand& a, Location location) {
  return run_operands(
      name, std::span(&a, 1), [&](std::span<const Operand> x) { return function(x[0], location); }, location);
}

AnyArray run_binary(std::string_view name, BinaryFunction function, const Operand& a, const Operand& b,
                    Location location) {
  const Operand both[] = {a, b};
  return run_operands(name, both, [&](std::span<const Operand> x) { return function(x[0], x[1], location); }, location);
}

namespace {

/// The answer to a question about a tracer of one element where the trace follows branches.
std::optional<int64_t> followed_answer(Handle handle, QuestionKind kind, const void* question_site) {
  if (followed_branches() == branches::refuse) return std::nullopt;
  const bool truth = kind == QuestionKind::truth;
  const ops::Site s{truth ? "bool" : "integer", user_location({})};
  const Type t = type_of(handle, s.at);
  if (t.shape.num_elements() != 1) {
    s.shape_error("a tracer of one element was expected, got " + to_string(t) +
                  (truth ? "; use all(x) or any(x)" : ""));
  }
  const Handle value = ops::reshape(ops::convert(handle, truth ? DType::bool_ : DType::i64, s), Shape{}, s);
  return ask(value, kind, question_site);
}

AnyArray concrete_scalar(Handle handle, std::string_view wanted, std::string_view remedy) {
  const AnyArray value = concrete(handle, wanted, {});
  if (value.size() == 1) return value;
  throw ShapeError(std::string(wanted) + ": a tracer of one element was expected, got " + to_string(value.type()) +
                   std::string(remedy));
}

}  // namespace

bool truth_of(Handle handle) {
  const void* const site = __builtin_return_address(0);
  if (const auto answer = followed_answer(handle, QuestionKind::truth, site)) return *answer != 0;
  const AnyArray value = concrete_scalar(handle, "bool", "; use all(x) or any(x)");
  return visit_dtype(value.dtype(), [&]<class T>() { return *value.data_as<T>() != T(0); });
}

int64_t number_of(Handle handle) {
  const void* const site = __builtin_return_address(0);
  if (const auto answer = followed_answer(handle, QuestionKind::number, site)) return *answer;
  const AnyArray value = concrete_scalar(handle, "integer", "");
  return visit_dtype(value.dtype(), [&]<class T>() {
    if constexpr (std::integral<T>) return static_cast<int64_t>(*value.data_as<T>());
    return int64_t{0};  // has no such conversion
  });
}

}  // namespace calque::detail
