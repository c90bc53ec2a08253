#pragma once
// Shorthands for tests: arrays from braces, elements as vectors, application of one primitive.
#include <initializer_list>
#include <vector>

#include "primitives/list.h"
#include "reference/evaluate.h"

namespace calque::test {

/// A rank-1 array.
template <Elem T>
AnyArray vec(std::initializer_list<T> elements) {
  return AnyArray::from(std::span<const T>(elements.begin(), elements.size()), Shape{elements.size()});
}

/// A row-major array of the shape.
template <Elem T>
AnyArray arr(const Shape& shape, std::initializer_list<T> elements) {
  return AnyArray::from(std::span<const T>(elements.begin(), elements.size()), shape);
}

/// A rank-0 array.
template <Elem T>
AnyArray scalar(T value) {
  return AnyArray::full(Shape{}, value);
}

/// The elements in row-major order.
template <Elem T>
std::vector<T> elements(const AnyArray& a) {
  if (a.dtype() != dtype_of<T>) throw std::logic_error("elements: the array is " + to_string(a.type()));
  return std::vector<T>(a.data_as<T>(), a.data_as<T>() + a.size());
}

/// The first result of P on these operands.
template <class P>
AnyArray apply(const std::vector<AnyArray>& operands, const Attributes& attributes = {},
               const std::vector<Graph>& subgraphs = {}) {
  return reference::evaluate_primitive(primitives::get<P>(), operands, attributes, subgraphs)[0];
}

/// P on single elements.
template <class P, class R, class... T>
R of(T... x) {
  return elements<R>(apply<P>({scalar(x)...}))[0];
}

}  // namespace calque::test
