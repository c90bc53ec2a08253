// Cost functors: blocks as lists of scalars, and residuals as one vector.
#include <limits>

#include "calque/detail/pack.h"
#include "calque/ir/errors.h"

#include "frontend/ops/common.h"
#include "trace/branches/path.h"
#include "trace/builder.h"

namespace calque::detail {

std::vector<Handle> block_elements(Handle block, size_t position, Location location) {
  const Type type = type_of(block, location);
  if (type.shape.rank() > 1) {
    ops::Site{"functor", location}.shape_error(
        "block " + std::to_string(position) +
        " must be a vector, whose elements the functor's pointer goes along, got " + to_string(type) +
        "; reshape it to {-1}");
  }
  return unpack_elements(block, location);
}

Handle pack_residuals(std::span<const Handle> residuals, DType dtype, Location location) {
  const ops::Site site{"functor", location};
  for (size_t i = 0; i < residuals.size(); ++i) {
    if (residuals[i] == Handle()) {
      throw Error("functor: residual " + std::to_string(i) + " of " + std::to_string(residuals.size()) +
                  " was never assigned" + where_text(user_location(location)));
    }
    const Type type = type_of(residuals[i], location);
    if (type.shape.rank() != 0) {
      site.shape_error("residual " + std::to_string(i) + " must be a scalar, got " + to_string(type));
    }
  }
  return pack_elements(residuals, {dtype, Shape{static_cast<int64_t>(residuals.size())}}, location);
}

void check_past_residuals(std::span<const Handle> past, int64_t count, Location location) {
  for (size_t i = 0; i < past.size(); ++i) {
    if (past[i] == Handle()) continue;
    throw Error("functor: the functor writes residual " + std::to_string(count + static_cast<int64_t>(i)) +
                ", and it is to have " + std::to_string(count) + where_text(user_location(location)));
  }
}

Handle failed_residuals(DType dtype, int64_t count, Location location) {
  bool depends_on_data = false;
  for (const Builder* b = innermost(); b != nullptr; b = b->parent()) {
    depends_on_data |= b->eager() || (b->path() != nullptr && !b->path()->asked.empty());
  }
  const ops::Site site{"functor", location};
  if (!depends_on_data) {
    throw Error("functor: the functor returned false whatever the data, so that it has no residuals" +
                where_text(user_location(location)));
  }
  return ops::splat(std::numeric_limits<double>::quiet_NaN(), {dtype, Shape{count}}, site);
}

int64_t checked_count(int64_t num_residuals, Location location) {
  if (num_residuals > 0) return num_residuals;
  throw Error("functor: a functor has at least one residual, got " + std::to_string(num_residuals) +
              where_text(user_location(location)));
}

void require_components(std::string_view function, const Shape& shape, int64_t extent, Location location) {
  if (!shape.empty() && shape[shape.size() - 1] == extent) return;
  ops::Site{function, location}.shape_error("the last extent must be " + std::to_string(extent) + ", got " +
                                            to_string(shape));
}

}  // namespace calque::detail
