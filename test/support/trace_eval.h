#pragma once
// Traces lambdas from operands to one or several handles, and evaluates them with the reference evaluator.
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "calque/detail/ops.h"

#include "reference/evaluate.h"
#include "support/arrays.h"

namespace calque::test {

using detail::Handle;
using detail::Operand;
using Handles = std::vector<Handle>;

/// The source line that errors and equations name.
inline const Location kHere("/src/model.cpp", 42, 7);

inline std::vector<Type> types_of(const std::vector<AnyArray>& arrays) {
  std::vector<Type> types;
  for (const AnyArray& a : arrays) types.push_back(a.type());
  return types;
}

/// The trace of `f(span of inputs) -> Handles` for these types. Checks that the graph verifies and, unless it calls C++
/// functions, round-trips through its text.
template <class F>
detail::TraceResult trace(const std::vector<Type>& types, F&& f, bool as_text = true) {
  detail::TraceResult r =
      detail::trace_graph("test", types, [&](std::span<const Handle> in, Handles& out) { out = f(in); });
  r.graph.verify();
  if (as_text && !(parse(print(r.graph)) == r.graph))
    throw std::logic_error("the text form is another graph:\n" + print(r.graph));
  return r;
}

/// The results of a traced function for these inputs.
template <class F>
std::vector<AnyArray> results_of(const std::vector<AnyArray>& inputs, F&& f) {
  const detail::TraceResult r = trace(types_of(inputs), f);
  return reference::evaluate(r.graph, inputs);
}

/// The one result of `f(span of operands) -> Handle`.
template <class F>
AnyArray result_of(const std::vector<AnyArray>& inputs, F&& f) {
  return results_of(inputs, [&](std::span<const Handle> in) {
    const std::vector<Operand> operands(in.begin(), in.end());
    return Handles{f(operands)};
  })[0];
}

/// The message of the error E that tracing throws.
template <class E, class F>
std::string words_of(const std::vector<Type>& types, F&& f) {
  try {
    trace(types, [&](std::span<const Handle> in) {
      const std::vector<Operand> operands(in.begin(), in.end());
      f(operands);
      return Handles{};
    });
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}

/// Elements between -range and range, integers for integer types.
template <Elem T>
AnyArray random_array(const Shape& shape, std::mt19937& generator, double range = 4) {
  std::uniform_real_distribution<double> uniform(-range, range);
  AnyArray a = AnyArray::uninitialized({dtype_of<T>, shape});
  for (int64_t i = 0; i < a.size(); ++i) static_cast<T*>(a.mutable_data())[i] = static_cast<T>(uniform(generator));
  return a;
}

/// Calls f(index) for every index of a shape, in row-major order.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t n = shape.num_elements(); n > 0; --n) {
    f(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

/// The element at an index; size-1 and missing leading dimensions broadcast.
template <Elem T>
T at(const AnyArray& a, const std::vector<int64_t>& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < a.shape().size(); ++d) {
    const int64_t i = index[index.size() - a.shape().size() + d];
    offset = offset * a.shape()[d] + (a.shape()[d] == 1 ? 0 : i);
  }
  return a.data_as<T>()[offset];
}

}  // namespace calque::test
