#pragma once
// Shorthands to build the small graphs of these tests.
#include <functional>
#include <string>
#include <string_view>

#include "calque/ir/graph.h"

namespace calque::test {

inline Type f32(Shape shape = {}) { return {DType::f32, std::move(shape)}; }
inline Type i32(Shape shape = {}) { return {DType::i32, std::move(shape)}; }

inline Equation& add(Graph& g, std::string_view primitive, ValueList operands, Attributes attributes = {},
                     std::vector<Graph> subgraphs = {}, Location location = {}) {
  return g.append(*find_primitive(primitive), std::move(operands), std::move(attributes), std::move(subgraphs),
                  location);
}

inline Value op(Graph& g, std::string_view primitive, ValueList operands, Attributes attributes = {}) {
  return add(g, primitive, std::move(operands), std::move(attributes)).result();
}

/// The message of the exception of type E that `f` throws, or a text that matches no expectation.
template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "no exception";
}

}  // namespace calque::test
