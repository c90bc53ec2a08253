#pragma once
// Runs lambdas on tracers without compiling them: a trace followed by the reference evaluator.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/array.h"
#include "calque/control.h"
#include "calque/detail/trace.h"

#include "reference/evaluate.h"

namespace calque::test {

template <class T>
Tracer<T> next_tracer(const detail::Handle*& next) {
  return Tracer<T>(*next++);
}

/// The graph of a lambda on tracers of these arrays' types.
template <class F, class... T>
Graph traced_graph(const F& f, const Array<T>&... arrays) {
  const std::vector<Type> types{arrays.any().type()...};
  detail::TraceResult result =
      detail::trace_graph("test", types, [&](std::span<const detail::Handle> inputs, std::vector<detail::Handle>& out) {
        const detail::Handle* next = inputs.data();
        const std::tuple<Tracer<T>...> tracers{next_tracer<T>(next)...};  // braces: left to right
        detail::append_handles(detail::traced(std::apply(f, tracers)), out);
      });
  EXPECT_TRUE(result.captures.empty());
  result.graph.verify("test");
  return std::move(result.graph);
}

/// The first result of a lambda on tracers, by the reference evaluator.
template <class F, class... T>
AnyArray evaluated(const F& f, const Array<T>&... arrays) {
  const std::vector<AnyArray> inputs{arrays.any()...};
  return reference::evaluate(traced_graph(f, arrays...), inputs)[0];
}
template <class R, class F, class... T>
Array<R> evaluated_as(const F& f, const Array<T>&... arrays) {
  return evaluated(f, arrays...).template as<R>();
}

/// The number of equations of a primitive in a graph.
inline int count(const Graph& graph, std::string_view primitive) {
  int n = 0;
  for (const Equation& e : graph.equations()) n += e.primitive() == primitive;
  return n;
}

/// The message of the exception of class E that `f` throws.
template <class E, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no exception";
  return {};
}

/// `base (file.cpp:line)`.
inline std::string at_line(const std::string& file, int line) { return "(" + file + ":" + std::to_string(line) + ")"; }

}  // namespace calque::test
