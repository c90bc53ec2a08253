#include "support/transforms.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "reference/evaluate.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"

namespace calque::test {
namespace {

/// The bytes of `bytes_per_run` contiguous elements, for each run along `axis`.
struct Runs {
  int64_t outer = 1, bytes = 0;

  Runs(const Type& one_example, int64_t axis) {
    int64_t inner = 1;
    for (size_t d = 0; d < one_example.shape.size(); ++d) {
      (static_cast<int64_t>(d) < axis ? outer : inner) *= one_example.shape[d];
    }
    bytes = inner * static_cast<int64_t>(size_of(one_example.dtype));
  }
};

template <class T>
void append_number(std::vector<double>& to, const T& x) {
  if constexpr (is_complex(dtype_of<T>)) {
    to.push_back(static_cast<double>(x.real()));
    to.push_back(static_cast<double>(x.imag()));
  } else {
    to.push_back(static_cast<double>(x));
  }
}

size_t numbers_per_element(DType d) { return is_complex(d) ? 2 : 1; }

}  // namespace

std::vector<double> numbers(const AnyArray& a) {
  std::vector<double> out;
  visit_dtype(a.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < a.size(); ++i) append_number(out, a.data_as<T>()[i]);
  });
  return out;
}

AnyArray from_numbers(const Type& type, const std::vector<double>& numbers) {
  AnyArray a = AnyArray::uninitialized(type);
  visit_dtype(type.dtype, [&]<class T>() {
    auto* to = static_cast<T*>(a.mutable_data());
    for (int64_t i = 0; i < a.size(); ++i) {
      const auto k = static_cast<size_t>(i) * numbers_per_element(type.dtype);
      if constexpr (is_complex(dtype_of<T>)) {
        using R = typename T::value_type;
        to[i] = T(static_cast<R>(numbers[k]), static_cast<R>(numbers[k + 1]));
      } else {
        to[i] = static_cast<T>(numbers[k]);
      }
    }
  });
  return a;
}

AnyArray converted(const AnyArray& a, DType dtype) {
  return a.dtype() == dtype ? a : from_numbers({dtype, a.shape()}, numbers(a));
}

bool all_finite(const std::vector<AnyArray>& arrays) {
  return std::ranges::all_of(arrays, [](const AnyArray& a) {
    return std::ranges::all_of(numbers(a), [](double x) { return std::isfinite(x); });
  });
}

double largest(const std::vector<AnyArray>& arrays) {
  double most = 0;
  for (const AnyArray& a : arrays) {
    if (!is_inexact(a.dtype())) continue;
    for (const double x : numbers(a)) most = std::max(most, std::abs(x));
  }
  return most;
}

AnyArray uniform(const Type& type, Rng& rng, double low, double high) {
  std::vector<double> values(static_cast<size_t>(type.shape.num_elements()) * numbers_per_element(type.dtype), 0);
  if (is_inexact(type.dtype)) {
    for (double& x : values) x = low + (high - low) * static_cast<double>(rng.next() >> 11) * 0x1p-53;
  }
  return from_numbers(type, values);
}

std::vector<AnyArray> uniform(const std::vector<Type>& types, Rng& rng, double low, double high) {
  std::vector<AnyArray> arrays;
  for (const Type& t : types) arrays.push_back(uniform(t, rng, low, high));
  return arrays;
}

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::f32:
    case DType::c64:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

std::string far_apart(const std::vector<AnyArray>& got, const std::vector<AnyArray>& want, double rtol, double atol) {
  if (got.size() != want.size()) return std::to_string(got.size()) + " results, want " + std::to_string(want.size());
  for (size_t k = 0; k < got.size(); ++k) {
    if (got[k].type() != want[k].type()) {
      return "result " + std::to_string(k) + ": " + to_string(got[k].type()) + ", want " + to_string(want[k].type());
    }
    const std::vector<double> a = numbers(got[k]), b = numbers(want[k]);
    const bool inexact = is_inexact(want[k].dtype());
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
      if (inexact && std::abs(a[i] - b[i]) <= atol + rtol * std::abs(b[i])) continue;
      std::ostringstream out;
      out.precision(17);
      out << "result " << k << " of type " << got[k].type() << ", number " << i << ": got " << a[i] << ", want "
          << b[i];
      return out.str();
    }
  }
  return {};
}

// ---- derivatives

std::vector<bool> inexact_inputs(const Graph& graph) {
  std::vector<bool> marked;
  for (const Value v : graph.inputs()) marked.push_back(is_inexact(graph.dtype(v)));
  return marked;
}

std::vector<AnyArray> select(const std::vector<AnyArray>& arrays, const std::vector<bool>& marked) {
  std::vector<AnyArray> out;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (marked[i]) out.push_back(arrays[i]);
  }
  return out;
}

std::vector<AnyArray> results_at(const Graph& graph, const std::vector<AnyArray>& x, const std::vector<bool>& marked,
                                 const std::vector<AnyArray>& v, double h) {
  std::vector<AnyArray> moved;
  for (size_t i = 0, k = 0; i < x.size(); ++i) {
    if (!marked[i]) {
      moved.push_back(x[i]);
      continue;
    }
    std::vector<double> values = numbers(x[i]);
    const std::vector<double> direction = numbers(v[k++]);
    for (size_t j = 0; j < values.size(); ++j) values[j] += h * direction[j];
    moved.push_back(from_numbers(x[i].type(), values));
  }
  return reference::evaluate(graph, moved);
}

std::vector<AnyArray> differences(const Graph& graph, const std::vector<AnyArray>& x, const std::vector<bool>& marked,
                                  const std::vector<AnyArray>& v, double h) {
  const auto at = [&](double step) { return results_at(graph, x, marked, v, step); };
  const std::vector<AnyArray> p1 = at(h), m1 = at(-h), p2 = at(2 * h), m2 = at(-2 * h);
  std::vector<AnyArray> out;
  for (size_t k = 0; k < p1.size(); ++k) {
    const std::vector<double> a = numbers(p1[k]), b = numbers(m1[k]), c = numbers(p2[k]), d = numbers(m2[k]);
    std::vector<double> quotient(a.size(), 0);
    for (size_t i = 0; i < a.size() && is_inexact(p1[k].dtype()); ++i) {
      // Fill values, such as NaN for an out-of-bounds read, are constants.
      if (!std::isfinite(a[i]) && !std::isfinite(b[i]) && !std::isfinite(c[i]) && !std::isfinite(d[i])) continue;
      quotient[i] = (8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h);
    }
    out.push_back(from_numbers(p1[k].type(), quotient));
  }
  return out;
}

bool smooth_near(const Graph& graph, const std::vector<AnyArray>& x, const std::vector<bool>& marked,
                 const std::vector<AnyArray>& v, double rtol) {
  const std::vector<AnyArray> fine = differences(graph, x, marked, v, 1e-3);
  const double slope = 1 + largest(fine);
  const std::vector<AnyArray> here = results_at(graph, x, marked, v, 0);
  const std::vector<AnyArray> ahead = results_at(graph, x, marked, v, 1e-4);
  const std::vector<AnyArray> behind = results_at(graph, x, marked, v, -1e-4);
  for (size_t k = 0; k < here.size(); ++k) {
    const std::vector<double> a = numbers(behind[k]), b = numbers(here[k]), c = numbers(ahead[k]);
    for (size_t i = 0; i < a.size() && is_inexact(here[k].dtype()); ++i) {
      if (std::abs(a[i] - 2 * b[i] + c[i]) > 1e-4 * 0.002 * slope) return false;
    }
  }
  return far_apart(differences(graph, x, marked, v, 1.7e-3), fine, rtol, rtol * slope).empty();
}

namespace {

template <class F>
double sum_of_products(const std::vector<AnyArray>& a, const std::vector<AnyArray>& b, F&& product) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    if (!is_inexact(a[k].dtype())) continue;
    const std::vector<double> x = numbers(a[k]), y = numbers(b[k]);
    const size_t step = numbers_per_element(a[k].dtype());
    for (size_t i = 0; i < x.size(); ++i) sum += product(x[i], y[i], step == 2 && i % 2 == 1);
  }
  return sum;
}

}  // namespace

double pairing(const std::vector<AnyArray>& a, const std::vector<AnyArray>& b) {
  return sum_of_products(a, b, [](double x, double y, bool imaginary) { return imaginary ? -x * y : x * y; });
}

double pairing_size(const std::vector<AnyArray>& a, const std::vector<AnyArray>& b) {
  return sum_of_products(a, b, [](double x, double y, bool) { return std::abs(x * y); });
}

std::string transposition_error(const Graph& graph, const std::vector<AnyArray>& x, Rng& rng, double tolerance) {
  const std::vector<bool> wrt = inexact_inputs(graph);
  std::vector<AnyArray> tangents = uniform(graph.input_types(), rng);
  tangents = select(tangents, wrt);
  const std::vector<AnyArray> cotangents = uniform(graph.output_types(), rng);
  const auto joined = [&](const std::vector<AnyArray>& more) {
    std::vector<AnyArray> all = x;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto n = static_cast<std::ptrdiff_t>(graph.outputs().size());
  std::vector<AnyArray> pushed = reference::evaluate(transform::jvp(graph, wrt), joined(tangents));
  std::vector<AnyArray> pulled = reference::evaluate(transform::vjp(graph, wrt), joined(cotangents));
  const std::string d =
      far_apart({pulled.begin(), pulled.begin() + n}, {pushed.begin(), pushed.begin() + n}, tolerance, tolerance);
  if (!d.empty()) return "values of vjp and jvp differ: " + d;
  const double scale = largest(pushed) + largest(x);
  pushed.erase(pushed.begin(), pushed.begin() + n);
  pulled.erase(pulled.begin(), pulled.begin() + n);
  const double a = pairing(cotangents, pushed), b = pairing(pulled, tangents);
  const double size = pairing_size(cotangents, pushed) + pairing_size(pulled, tangents);
  if (std::isnan(a) && std::isnan(b)) return {};
  // Cancellation inside the functions adds rounding errors.
  if (std::abs(a - b) <= tolerance * (size + 1e-4 * (1 + scale))) return {};
  std::ostringstream out;
  out.precision(17);
  out << "<cotangents, jvp> is " << a << ", <vjp, tangents> is " << b << ", of terms that add to " << size;
  return out.str();
}

// ---- batches

AnyArray example(const AnyArray& batched, BatchAxis axis, int64_t i) {
  if (!axis) return batched;
  const Type type{batched.dtype(), batched.shape().without(static_cast<size_t>(*axis))};
  const int64_t size = batched.shape()[static_cast<size_t>(*axis)];
  const Runs runs(type, *axis);
  AnyArray one = AnyArray::uninitialized(type);
  for (int64_t r = 0; r < runs.outer && runs.bytes > 0; ++r) {
    std::memcpy(static_cast<char*>(one.mutable_data()) + r * runs.bytes,
                static_cast<const char*>(batched.data()) + (r * size + i) * runs.bytes,
                static_cast<size_t>(runs.bytes));
  }
  return one;
}

AnyArray stacked(const std::vector<AnyArray>& examples, const Type& type, int64_t axis) {
  const auto size = static_cast<int64_t>(examples.size());
  AnyArray all = AnyArray::uninitialized(batched_type(type, axis, size));
  const Runs runs(type, axis);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t r = 0; r < runs.outer && runs.bytes > 0; ++r) {
      std::memcpy(static_cast<char*>(all.mutable_data()) + (r * size + i) * runs.bytes,
                  static_cast<const char*>(examples[static_cast<size_t>(i)].data()) + r * runs.bytes,
                  static_cast<size_t>(runs.bytes));
    }
  }
  return all;
}

Type batched_type(const Type& type, BatchAxis axis, int64_t size) {
  if (!axis) return type;
  return {type.dtype, type.shape.with_inserted(static_cast<size_t>(*axis), size)};
}

std::vector<AnyArray> looped(const Graph& graph, const std::vector<AnyArray>& inputs,
                             const std::vector<BatchAxis>& in_axes, int64_t size,
                             const std::vector<BatchAxis>& out_axes) {
  std::vector<std::vector<AnyArray>> results(graph.outputs().size());
  for (int64_t i = 0; i < size; ++i) {
    std::vector<AnyArray> one;
    for (size_t k = 0; k < inputs.size(); ++k) one.push_back(example(inputs[k], in_axes[k], i));
    const std::vector<AnyArray> outputs = reference::evaluate(graph, one);
    for (size_t k = 0; k < outputs.size(); ++k) results[k].push_back(outputs[k]);
  }
  std::vector<AnyArray> out;
  for (size_t k = 0; k < results.size(); ++k) {
    out.push_back(out_axes[k] ? stacked(results[k], graph.type(graph.outputs()[k]), *out_axes[k]) : results[k].at(0));
  }
  return out;
}

std::string axes_text(const std::vector<BatchAxis>& axes) {
  std::string text;
  for (const BatchAxis& a : axes) text += (text.empty() ? "" : ", ") + (a ? std::to_string(*a) : std::string("none"));
  return text;
}

}  // namespace calque::test
