#pragma once
// The examples of docstrings: tools/docstring_examples generates a call of test::example for each, and
// test/docstrings/main.cpp runs them.
#include <array>
#include <concepts>
#include <functional>
#include <ios>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "calque/calque.h"

namespace calque::test {

struct Example {
  std::string_view header;
  int line;
  std::string_view code, expected;
  std::function<std::string()> printed;
};

/// All examples of the program.
inline std::vector<Example>& examples() {
  static std::vector<Example> all;
  return all;
}

/// Several results print with commas between them, each on its own line when one of them needs several lines.
template <class T>
void join(std::vector<std::string>& parts, const T& x);
template <class T>
std::string text_of(const T& x) {
  std::vector<std::string> parts;
  join(parts, x);
  std::string separator = ", ", out;
  for (const std::string& part : parts) {
    if (part.find('\n') != std::string::npos) separator = ",\n";
  }
  for (const std::string& part : parts) out += (out.empty() ? "" : separator) + part;
  return out;
}
template <class T>
void join(std::vector<std::string>& parts, const T& x) {
  if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](const auto&... e) { (parts.push_back(text_of(e)), ...); }, x);
  } else if constexpr (requires { typename T::allocator_type; }) {
    for (const auto& e : x) parts.push_back(text_of(e));
  } else {
    std::ostringstream out;
    out << std::boolalpha << x;
    parts.push_back(out.str());
  }
}

template <class T>
inline constexpr bool makes_tracers = TracerLike<T>;
template <class T>
inline constexpr bool makes_tracers<std::vector<T>> = TracerLike<T>;
template <class T, size_t N>
inline constexpr bool makes_tracers<std::array<T, N>> = TracerLike<T>;

/// Registers an example: `f` evaluates its expression, in a trace if that makes tracers.
template <std::invocable F>
bool example(std::string_view header, int line, std::string_view code, std::string_view expected, F f) {
  examples().push_back({header, line, code, expected, [f] {
                          if constexpr (makes_tracers<std::invoke_result_t<F>>) {
                            return text_of(jit(f)());
                          } else {
                            return text_of(f());
                          }
                        }});
  return true;
}

}  // namespace calque::test
