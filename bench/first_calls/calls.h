// First calls of the functions with NumPy's, jax.nn's and jax.lax's names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <calque/calque.h>

namespace first_calls {

namespace cq = calque;

/// What the functions are called on, at ordinary sizes.
struct Inputs {
  cq::Tracer<float> x, y;    ///< [1000], in (-1, 1)
  cq::Tracer<float> sorted;  ///< [1000], increasing in (0, 1)
  cq::Tracer<float> m, n;    ///< [64, 64], in (-1, 1)
  cq::Tracer<float> few;     ///< [8]
  cq::Tracer<int32_t> i, j;  ///< [1000], in [0, 64)
  cq::Tracer<bool> mask;     ///< [1000]
  cq::random::BasicKey<cq::Tracer<uint32_t>> key;
};

using Results = std::vector<cq::AnyTracer>;

/// The results of a function, whose types differ.
template <class... T>
Results results(const cq::Tracer<T>&... x) {
  return {cq::AnyTracer(x)...};
}
template <class T>
Results results(const std::vector<cq::Tracer<T>>& x) {
  return {x.begin(), x.end()};
}
template <class T, size_t N>
Results results(const std::array<cq::Tracer<T>, N>& x) {
  return {x.begin(), x.end()};
}
template <class... T>
Results results(const std::tuple<T...>& x) {
  return std::apply([](const auto&... each) { return results(each...); }, x);
}

struct Call {
  std::string name;
  Results (*body)(const Inputs&);
};

/// The functions of the table in docs/numpy.md, by what they do. Those without code of their own (views, constants,
/// types, other names of the same function) are left out; attention and convolutions are in `bench_compile`.
std::vector<Call> elementwise();
std::vector<Call> special();
std::vector<Call> reductions();
std::vector<Call> orders();
std::vector<Call> arrangements();
std::vector<Call> layers();

}  // namespace first_calls

/// A row: the name, and the results in terms of the inputs `a`.
#define FIRST_CALL(name, ...)                                                   \
  Call {                                                                        \
    name, []([[maybe_unused]] const Inputs& a) { return results(__VA_ARGS__); } \
  }
