// Lists of numbers and arrays of rank 1: the leaves that are no arrays in the caller's types.
#include "calque/detail/array_data.h"
#include "calque/detail/leaf_view.h"
#include "calque/detail/pack.h"

#include "frontend/ops/common.h"

namespace calque::detail {

LeafView view_of_list(DType dtype, const void* data, size_t count) {
  static constexpr double kNothing = 0;  // an empty vector may have no address, but a view has one
  LeafView view;
  view.dtype = dtype;
  view.data = count == 0 ? &kNothing : data;
  view.shape = Shape{static_cast<int64_t>(count)};
  view.strides.push_back(1);
  return view;
}

const void* list_data(const AnyArray& array, Location location) {
  if (array.empty()) throw_empty_array(location);
  if (array.rank() != 1) {
    throw ShapeError("a std::vector of numbers is made from an array of rank 1, got " + to_string(array.type()) +
                     where_text(location));
  }
  return host_data(array, location);
}

void require_number(Handle handle, std::string_view path) {
  const Type type = type_of(handle, {});
  if (type.shape.rank() == 0) return;
  ops::Site{"jit", {}}.shape_error(std::string(path) + " is a number in the type that the call returns, got " +
                                   to_string(type) +
                                   "; return a scalar there, or let an Eigen member or an array hold the elements");
}

}  // namespace calque::detail
