// Arrays as lists of scalars. Each element takes one or two equations, which fuse into the adjacent kernels.
#include "calque/detail/pack.h"

#include "calque/ir/errors.h"

#include "frontend/ops/common.h"

namespace calque::detail {
namespace {

std::string extent_text(int64_t fixed, int64_t most, const char* what) {
  return fixed >= 0  ? std::to_string(fixed) + " " + what
         : most >= 0 ? "at most " + std::to_string(most) + " " + what
                     : std::string("any number of ") + what;
}

bool fits(int64_t extent, int64_t fixed, int64_t most) {
  return (fixed < 0 || extent == fixed) && (most < 0 || extent <= most);
}

}  // namespace

Handle pack_elements(std::span<const Handle> elements, const Type& type, Location location) {
  const ops::Site site{"eigen", location};
  if (elements.empty()) return literal(Literal(), type, location);
  std::vector<Handle> parts;
  parts.reserve(elements.size());
  for (const Handle element : elements) {
    const Type got = type_of(element, location);
    if (got.shape.rank() != 0) {
      const std::string argument = argument_of_shape(element);
      site.shape_error("the elements of a matrix of tracers must be scalars, got " + to_string(got) +
                       (argument.empty() ? "" : ", the shape of " + argument) +
                       "; to compute with it as Eigen does, give that array an Eigen type: "
                       "`const cq::Vector<double, 3>& x`, `const cq::Matrix<double, 3, 3>& a`");
    }
    parts.push_back(ops::reshape(element, Shape{1}, site));
  }
  const Handle flat =
      parts.size() == 1 ? parts[0] : emit(*find_primitive("concatenate"), parts, {{"axis", int64_t{0}}}, location);
  return ops::reshape(flat, type.shape, site);
}

std::vector<Handle> unpack_elements(Handle array, Location location) {
  const ops::Site site{"eigen", location};
  const int64_t count = type_of(array, location).shape.num_elements();
  const Handle flat = ops::reshape(array, Shape{count}, site);
  std::vector<Handle> elements;
  elements.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    elements.push_back(ops::reshape(ops::slice_axis(flat, 0, i, i + 1, 1, site), Shape(), site));
  }
  return elements;
}

MatrixShape matrix_shape(const Type& type, const MatrixLimits& limits, Location location) {
  const ops::Site site{"eigen", location};
  const int rank = type.shape.rank();
  MatrixShape shape;
  if (rank == 1 && limits.vector) {
    shape = limits.columns == 1 ? MatrixShape{type.shape[0], 1} : MatrixShape{1, type.shape[0]};
  } else if (rank == 2) {
    shape = {type.shape[0], type.shape[1]};
  } else {
    site.shape_error(std::string(limits.vector ? "a vector is made from an array of rank 1"
                                               : "a matrix is made from an array of rank 2") +
                     ", got " + to_string(type));
  }
  if (!fits(shape.rows, limits.rows, limits.max_rows) || !fits(shape.columns, limits.columns, limits.max_columns)) {
    site.shape_error("the matrix has " + extent_text(limits.rows, limits.max_rows, "rows") + " and " +
                     extent_text(limits.columns, limits.max_columns, "columns") + ", got " + to_string(type));
  }
  return shape;
}

}  // namespace calque::detail
