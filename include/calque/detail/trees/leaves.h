#pragma once
// Leaves in their forms: arrays, numbers, Eigen objects, vectors and spans of numbers as data; tracers, Eigen objects
// and vectors of tracers in a trace. Every form is made from and becomes one array (AnyArray) or one value (Handle).
#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/any_tracer.h"
#include "calque/array.h"
#include "calque/detail/leaf_view.h"
#include "calque/detail/pack.h"
#include "calque/detail/trees/walk.h"
#include "calque/tracer.h"

namespace calque::detail {

/// A vector or span of numbers.
template <class X>
concept NumberList = Leaf<X> && (is_vector<X> || is_span<X>);
/// One whose elements are in memory as those of an array.
template <class X>
concept ContiguousNumbers =
    NumberList<X> && !std::same_as<typename X::value_type, long double> && requires(const X& x) {
      { x.data() } -> std::convertible_to<const typename X::value_type*>;
    };
/// A leaf that a compiled function reads in place.
template <class X>
concept InPlace = ContiguousNumbers<X> || requires(const X& x) { dense<X>::view(x); };

template <InPlace X>
LeafView leaf_view(const X& x) {
  if constexpr (ContiguousNumbers<X>) {
    return view_of_list(dtype_of<leaf_elem_t<X>>, x.data(), x.size());
  } else {
    return dense<X>::view(x);
  }
}

/// A leaf of data as an array; arrays share their elements, others are copied. Throws ShapeError for an empty array.
template <class X>
AnyArray leaf_array(const X& x, Location location = {}) {
  using T = leaf_elem_t<X>;
  if constexpr (ArrayLike<X>) {
    return x.any(location);
  } else if constexpr (ScalarLeaf<X>) {
    return AnyArray::full<T>(Shape(), static_cast<T>(x));
  } else if constexpr (ContiguousNumbers<X>) {
    return copy_of(leaf_view(x));
  } else if constexpr (NumberList<X>) {
    AnyArray array = AnyArray::uninitialized({dtype_of<T>, Shape{static_cast<int64_t>(x.size())}});
    T* to = static_cast<T*>(array.mutable_data());
    for (const typename X::value_type element : x) *to++ = static_cast<T>(element);
    return array;
  } else {
    static_assert(dense<X>::value, "calque: spec<T>(shape) serves trace and lower only");
    return dense<X>::copy(x);
  }
}
template <CapturedData X>
AnyArray captured_array(const X& x) {
  return leaf_array(x);
}

/// The leaf To of data from its array. Throws ShapeError when it does not fit: a number is made from an array of one
/// element, a vector from one of rank 1.
template <class To>
To leaf_from(AnyArray array, Location location = {}) {
  if constexpr (std::same_as<To, AnyArray>) {
    return array;
  } else if constexpr (ArrayLike<To>) {
    return To(std::move(array));
  } else if constexpr (ScalarLeaf<To>) {
    return static_cast<To>(*static_cast<const leaf_elem_t<To>*>(only_element(array, location)));
  } else if constexpr (is_vector<To>) {
    using T = leaf_elem_t<To>;
    const std::span<const T> elements(static_cast<const T*>(list_data(array, location)),
                                      static_cast<size_t>(array.size()));
    To to;
    to.reserve(elements.size());
    for (const T element : elements) to.push_back(static_cast<typename To::value_type>(element));
    return to;
  } else {
    static_assert(dense<To>::owns, "calque: of Eigen's types Matrix and Array are made from arrays");
    return dense<To>::make(Array<leaf_elem_t<To>>(std::move(array)), location);
  }
}

/// A leaf in a trace as one value.
template <class X>
Handle leaf_handle(const X& x, Location location = {}) {
  if constexpr (TracerLike<X> || AnyLeaf<X>) {
    return x.handle();
  } else {
    return dense<X>::pack(x, location).handle();
  }
}

/// The leaf To in a trace from its value. Throws ShapeError when an Eigen object has another shape.
template <class To>
To leaf_from(Handle handle, Location location = {}) {
  if constexpr (TracerLike<To> || AnyLeaf<To>) {
    return To(handle);
  } else if constexpr (is_vector<To>) {
    To to;
    for (const Handle element : unpack_elements(handle, location)) to.push_back(typename To::value_type(element));
    return to;
  } else {
    return dense<To>::make(Tracer<leaf_elem_t<To>>(handle), location);
  }
}

}  // namespace calque::detail
