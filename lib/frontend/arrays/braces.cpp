// Braced lists of all element types.
#include "calque/detail/braces.h"

namespace calque {
namespace detail {

void throw_unrepresentable(const std::string& value, DType dtype, Location location) {
  throw DTypeError("array: " + value + " is no value of " + std::string(name(dtype)) + where_text(location));
}

namespace {

std::string text_of_part(const std::vector<int64_t>& extents) {
  return extents.empty() ? std::string("a number") : "a list of shape " + to_string(Shape(extents));
}

}  // namespace
}  // namespace detail

template <Elem T>
Braces<T>::Braces(std::initializer_list<Braces> parts) : is_leaf_(false), parts_(parts) {}
template <Elem T>
Braces<T>::Braces(const Braces&) = default;
template <Elem T>
Braces<T>::~Braces() = default;

template <Elem T>
std::vector<int64_t> Braces<T>::shape(Location location) const {
  if (is_leaf_) return {};
  std::vector<int64_t> inner;
  for (size_t i = 0; i < parts_.size(); ++i) {
    std::vector<int64_t> part = parts_[i].shape(location);
    if (i == 0) {
      inner = std::move(part);
    } else if (part != inner) {
      throw ShapeError("array: the parts of a braced list differ, part 0 is " + detail::text_of_part(inner) +
                       " and part " + std::to_string(i) + " is " + detail::text_of_part(part) + where_text(location));
    }
  }
  inner.insert(inner.begin(), static_cast<int64_t>(parts_.size()));
  return inner;
}

template <Elem T>
T* Braces<T>::copy_to(T* out) const {
  if (is_leaf_) {
    *out++ = value_;
  } else {
    for (const Braces& part : parts_) out = part.copy_to(out);
  }
  return out;
}

#define CALQUE_X(T, D) template class Braces<T>;
CALQUE_ELEMENT_TYPES(CALQUE_X)
#undef CALQUE_X

}  // namespace calque
