// Leaves in the caller's types, which are lists and numbers, and all leaves of a tree in one array.
#include <cstring>
#include <numeric>

#include "calque/detail/array_data.h"
#include "calque/detail/leaf_view.h"
#include "calque/detail/pack.h"
#include "calque/detail/run.h"
#include "calque/trees.h"

#include "frontend/ops/common.h"

namespace calque::detail {
namespace {

std::vector<const AnyArray*> addresses(std::span<const AnyArray> arrays) {
  std::vector<const AnyArray*> list;
  for (const AnyArray& array : arrays) list.push_back(&array);
  return list;
}

/// Throws ShapeError unless an array is one of all elements of these types.
void require_elements(const Type& got, std::span<const Type> types, Location location) {
  const int64_t count = std::accumulate(types.begin(), types.end(), int64_t{0},
                                        [](int64_t sum, const Type& t) { return sum + t.shape.num_elements(); });
  if (got.shape.rank() == 1 && got.shape[0] == count) return;
  throw ShapeError("unravel: the tree has " + std::to_string(count) + " elements, got " + to_string(got) +
                   where_text(location));
}

}  // namespace

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
  const std::string argument = argument_of_shape(handle);
  ops::Site{"jit", {}}.shape_error(std::string(path) + " is a number in the type that the call returns, got " +
                                   to_string(type) + (argument.empty() ? "" : ", the shape of " + argument) +
                                   "; return a scalar there, or let an Eigen member or an array hold the elements");
}

const void* nested_data(const AnyArray& array, size_t rank, Location location) {
  if (static_cast<size_t>(array.rank()) != rank) {
    throw ShapeError("to: nested containers of depth " + std::to_string(rank) +
                     " are made from an array of that rank, got " + to_string(array.type()) + where_text(location));
  }
  return host_data(array, location);
}

void require_extent(int64_t got, size_t wanted, Location location) {
  if (got == static_cast<int64_t>(wanted)) return;
  throw ShapeError("to: a std::array of " + std::to_string(wanted) + " elements is made from an extent of " +
                   std::to_string(got) + where_text(location));
}

std::vector<Handle> zeros_of(std::span<const Handle> leaves, Location location) {
  std::vector<Handle> zeros;
  for (const Handle leaf : leaves) {
    const Type type = type_of(leaf, location);
    zeros.push_back(literal(Literal(), type, location));
  }
  return zeros;
}
std::vector<AnyArray> zeros_of(std::span<const AnyArray> leaves, Location location) {
  std::vector<AnyArray> zeros;
  for (const AnyArray& leaf : leaves) {
    if (leaf.empty()) throw_empty_array(location);
    AnyArray zero = AnyArray::uninitialized(leaf.type());
    std::memset(zero.mutable_data(), 0, static_cast<size_t>(zero.size()) * size_of(zero.dtype()));
    zeros.push_back(to_device(zero, leaf.device(), location));
  }
  return zeros;
}

Handle flatten(std::span<const Handle> leaves, DType dtype, Location location) {
  const ops::Site site{"ravel", location};
  std::vector<Operand> parts;
  for (const Handle leaf : leaves) {
    const int64_t count = type_of(leaf, location).shape.num_elements();
    parts.emplace_back(ops::convert(ops::reshape(leaf, Shape{count}, site), dtype, site));
  }
  if (parts.empty()) return literal(Literal(), {dtype, Shape{0}}, location);
  return ops::concatenate(parts, 0, location);
}
AnyArray flatten(std::span<const AnyArray> leaves, DType dtype, Location location) {
  if (leaves.empty()) return AnyArray::uninitialized({dtype, Shape{0}});
  return run_arrays("ravel", addresses(leaves), [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    outputs.push_back(flatten(inputs, dtype, location));
  })[0];
}

std::vector<Type> types_of_leaves(std::span<const Handle> leaves, Location location) {
  std::vector<Type> types;
  for (const Handle leaf : leaves) types.push_back(type_of(leaf, location));
  return types;
}
std::vector<Type> types_of_leaves(std::span<const AnyArray> leaves, Location location) {
  std::vector<Type> types;
  for (const AnyArray& leaf : leaves) {
    if (leaf.empty()) throw_empty_array(location);
    types.push_back(leaf.type());
  }
  return types;
}

std::vector<Handle> unflatten(Handle flat, std::span<const Type> types, Location location) {
  const ops::Site site{"unravel", location};
  require_elements(type_of(flat, location), types, location);
  std::vector<Handle> leaves;
  int64_t at = 0;
  for (const Type& type : types) {
    const int64_t count = type.shape.num_elements();
    const Handle part = ops::slice_axis(flat, 0, at, at + count, 1, site);
    leaves.push_back(ops::convert(ops::reshape(part, type.shape, site), type.dtype, site));
    at += count;
  }
  return leaves;
}
std::vector<AnyArray> unflatten(const AnyArray& flat, std::span<const Type> types, Location location) {
  require_elements(flat.type(), types, location);
  if (types.empty()) return {};
  const AnyArray* const list[] = {&flat};
  return run_arrays("unravel", list, [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    outputs = unflatten(inputs[0], types, location);
  });
}

}  // namespace calque::detail
