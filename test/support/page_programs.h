#pragma once
// The programs of pages: tools/page_programs generates a function for each page, and test/pages/main.cpp runs them.
#include <functional>
#include <iostream>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/eigen.h"

#include "support/docstring_examples.h"

namespace calque::test {

struct Page {
  std::string_view name;
  std::function<void()> run;
};

inline std::vector<Page>& pages_with_programs() {
  static std::vector<Page> all;
  return all;
}

inline bool add_page(std::string_view name, std::function<void()> run) {
  pages_with_programs().push_back({name, std::move(run)});
  return true;
}

/// Begins a program: what follows is its output. The marks are lines that tools/page_programs reads.
inline void page_program(int line) { std::cout << "\n\x01program " << line << '\n'; }

inline void page_value(int line, std::string_view text) {
  std::cout << "\n\x01value " << line << '\n' << text << "\n\x01" << "end" << std::endl;
}
template <class T>
  requires(!std::convertible_to<const T&, std::string_view>)
void page_value(int line, const T& x) {
  page_value(line, text_of(x));
}

/// The elements of an Array, an Eigen object or a number.
template <class X>
auto elements_of(const X& x) {
  if constexpr (requires { typename X::Scalar; }) {
    return Array<typename X::Scalar>::from(x.eval());
  } else if constexpr (std::is_arithmetic_v<X>) {
    return Array<X>::full({}, x);
  } else {
    return x;
  }
}

/// Throws unless shapes agree and elements up to rounding.
template <class A, class B>
void same(const A& a, const B& b, std::source_location at = std::source_location::current()) {
  const auto x = elements_of(a);
  const auto y = elements_of(b);
  if (x.shape() != y.shape() || !allclose(x, y, 1e-12, 1e-12))
    throw std::runtime_error("line " + std::to_string(at.line()) + " of a check: " + text_of(x) + " and " + text_of(y));
}

}  // namespace calque::test
