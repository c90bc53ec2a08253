#pragma once
// Conversion of a tree to another type: each leaf becomes what that type has there.
#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "calque/detail/trees/fit.h"
#include "calque/detail/trees/traced.h"

namespace calque::detail {

/// Throws ShapeError unless the array has `rank` dimensions, and an extent that a std::array fixes is as it says.
const void* nested_data(const AnyArray& array, size_t rank, Location location);
void require_extent(int64_t got, size_t wanted, Location location);

/// Nested containers of numbers from row-major elements; `from` advances.
template <class To, class T>
To nested_from(const T*& from, std::span<const int64_t> extents, Location location) {
  if constexpr (ScalarLeaf<To>) {
    return static_cast<To>(*from++);
  } else {
    To to{};
    const auto count = static_cast<size_t>(extents[0]);
    if constexpr (is_std_array<To>) {
      require_extent(extents[0], std::tuple_size_v<To>, location);
    } else {
      to.reserve(count);
    }
    for (size_t i = 0; i < count; ++i) {
      auto part = nested_from<typename To::value_type>(from, extents.subspan(1), location);
      if constexpr (is_std_array<To>) {
        to[i] = std::move(part);
      } else {
        to.push_back(std::move(part));
      }
    }
    return to;
  }
}

/// A leaf in another form. Throws ShapeError when it does not fit.
template <class To, class X>
To convert_leaf(const X& x, Location location) {
  if constexpr (ArrayLike<To> && std::is_same_v<To, X>) {
    return x;
  } else if constexpr (has_tracer<To>()) {
    return trace_leaf<To>(x, location);
  } else if constexpr (ScalarLeaf<To> && ScalarLeaf<X>) {
    return static_cast<To>(x);
  } else if constexpr (is_span<To>) {
    static_assert(ArrayLike<X> && std::is_const_v<typename To::element_type>,
                  "calque: cq::to: a std::span<const T> refers to the elements of an Array<T>");
    return To(static_cast<typename To::pointer>(list_data(x.any(location), location)), static_cast<size_t>(x.size()));
  } else {
    return leaf_from<To>(leaf_array(x, location), location);
  }
}

/// The tree as a To; the types fit.
template <class To, class X>
To convert(const X& x, Location location) {
  if constexpr (std::same_as<To, X>) {
    return x;
  } else if constexpr (Leaf<To> && Leaf<X>) {
    return convert_leaf<To>(x, location);
  } else if constexpr (NestedNumbers<To> && Leaf<X>) {
    const AnyArray array = leaf_array(x, location);
    auto from = static_cast<const leaf_elem_t<X>*>(nested_data(array, nested<To>::depth, location));
    return nested_from<To>(from, {array.shape().begin(), nested<To>::depth}, location);
  } else if constexpr (is_optional<To>) {
    return x ? To(convert<typename To::value_type>(*x, location)) : To(std::nullopt);
  } else if constexpr (is_vector<To>) {
    To to;
    to.reserve(x.size());
    for (const typename X::value_type& part : x) to.push_back(convert<typename To::value_type>(part, location));
    return to;
  } else if constexpr (is_map<To>) {
    To to;
    for (const auto& [key, part] : x) {
      to.emplace_hint(to.end(), key, convert<typename To::mapped_type>(part, location));
    }
    return to;
  } else if constexpr (is_std_array<To>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return To{{convert<typename To::value_type>(x[I], location)...}};
    }(std::make_index_sequence<std::tuple_size_v<To>>{});
  } else if constexpr (is_product<To>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return To{convert<std::tuple_element_t<I, To>>(std::get<I>(x), location)...};
    }(std::make_index_sequence<std::tuple_size_v<To>>{});
  } else {
    const auto fields = tie_fields(x);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return To{convert<field_t<To, I>>(std::get<I>(fields), location)...};
    }(std::make_index_sequence<std::tuple_size_v<decltype(fields)>>{});
  }
}

/// A leaf as what a function of leaves receives.
template <bool Traced, class X>
array_form_t<Traced, leaf_elem_t<X>> array_form(const X& x, Location location) {
  using T = leaf_elem_t<X>;
  if constexpr (Traced) {
    return trace_leaf<Tracer<T>>(x, location);
  } else if constexpr (ArrayLike<X>) {
    return x;
  } else {
    return Array<T>(leaf_array(x, location));
  }
}

/// f of the leaves of trees of one structure, as the tree To. Seen: the first tree as a lambda sees it, which tells
/// leaves from static values.
template <bool Traced, class Seen, class To, class F, class X, class... Y>
To map_trees(const F& f, Location location, const X& x, const Y&... y) {
  if constexpr (is_leaf<X, Seen>) {
    return convert<To>(f(array_form<Traced>(x, location), array_form<Traced>(y, location)...), location);
  } else if constexpr (is_static<X, Seen>) {
    return x;
  } else if constexpr (is_optional<X>) {
    using S = typename Seen::value_type;
    if (!x) return To(std::nullopt);
    return To(map_trees<Traced, S, typename To::value_type>(f, location, *x, *y...));
  } else if constexpr (is_vector<X>) {
    using S = typename Seen::value_type;
    To to;
    to.reserve(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const auto map = [&](const typename X::value_type& part, const typename Y::value_type&... more) {
        return map_trees<Traced, S, typename To::value_type>(f, location, part, more...);
      };
      to.push_back(map(x[i], y[i]...));
    }
    return to;
  } else if constexpr (is_map<X>) {
    using S = typename Seen::mapped_type;
    To to;
    for (const auto& [key, part] : x) {
      to.emplace_hint(to.end(), key, map_trees<Traced, S, typename To::mapped_type>(f, location, part, y.at(key)...));
    }
    return to;
  } else if constexpr (is_std_array<X>) {
    using S = typename Seen::value_type;
    return [&]<size_t... I>(std::index_sequence<I...>) {
      const auto map = [&](size_t i) {
        return map_trees<Traced, S, typename To::value_type>(f, location, x[i], y[i]...);
      };
      return To{{map(I)...}};
    }(std::make_index_sequence<std::tuple_size_v<To>>{});
  } else if constexpr (is_product<X>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      const auto map = [&]<size_t J>(std::integral_constant<size_t, J>) {
        return map_trees<Traced, std::tuple_element_t<J, Seen>, std::tuple_element_t<J, To>>(
            f, location, std::get<J>(x), std::get<J>(y)...);
      };
      return To{map(std::integral_constant<size_t, I>{})...};
    }(std::make_index_sequence<std::tuple_size_v<To>>{});
  } else {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      const auto map = [&]<size_t J>(std::integral_constant<size_t, J>) {
        return map_trees<Traced, field_t<Seen, J>, field_t<To, J>>(f, location, std::get<J>(tie_fields(x)),
                                                                   std::get<J>(tie_fields(y))...);
      };
      return To{map(std::integral_constant<size_t, I>{})...};
    }(std::make_index_sequence<std::tuple_size_v<fields_t<X>>>{});
  }
}

}  // namespace calque::detail
