// Creation of arrays, and effects. Sequences are computed in f64 or i64 and converted once.
#include <cmath>

#include "calque/detail/array_data.h"

#include "frontend/ops/common.h"
#include "ir/values/cpp_name.h"
#include "trace/builder.h"
#include "trace/literals.h"

namespace calque::detail::ops {
namespace {

/// Throws LeakedTracerError unless a trace is running; outside of traces users call the factories of Array.
void check_tracing(DType d, const Site& s) {
  if (tracing()) return;
  throw LeakedTracerError(std::string(s.name) + ": makes a tracer and needs a running trace; outside one use Array<" +
                          std::string(cpp_name(d)) + ">::" + std::string(s.name == "iota" ? "arange" : s.name) +
                          where_text(s.at));
}

void check_count(int64_t n, const Site& s) {
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
}

}  // namespace

Handle zeros(DType d, const Shape& shape, Location at) {
  const Site s{"zeros", at};
  check_tracing(d, s);
  return splat(0, {d, shape}, s);
}

Handle ones(DType d, const Shape& shape, Location at) {
  const Site s{"ones", at};
  check_tracing(d, s);
  return splat(1, {d, shape}, s);
}

Handle full(DType d, const Shape& shape, const Operand& v, Location at) {
  const Site s{"full", at};
  check_tracing(d, s);
  if (v.kind() == Operand::Kind::weak) {
    // A floating-point value for an integer array is truncated, as a cast does.
    if (!is_inexact(d) && !v.weak().is_integer()) {
      return literal(make_literal(d, v.weak().real), {d, shape}, at);
    }
    return literal(weak_literal(v.weak(), d, at, s.name), {d, shape}, at);
  }
  const Handle h = value(v, d, s);
  if (ops::shape(h).rank() != 0) s.shape_error("the value must be a scalar, got " + to_string(type(h)));
  return broadcast(h, shape, s);
}

Handle iota(DType d, int64_t n, Location at) {
  const Site s{"iota", at};
  check_tracing(d, s);
  check_count(n, s);
  if (is_bool(d)) s.dtype_error("needs a dtype of numbers, got bool");
  if (d == DType::i32 && n > INT32_MAX) {
    s.shape_error(std::to_string(n) + " elements are too many for i32; count in i64");
  }
  require_counts(s.name, n, d, at);
  return counted(d, Shape{n}, 0, s);
}

Handle arange(DType d, double start, double stop, double step, Location at) {
  const Site s{"arange", at};
  check_tracing(d, s);
  if (is_bool(d)) s.dtype_error("needs a dtype of numbers, got bool");
  if (step == 0 || !std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step)) {
    s.shape_error("needs finite ends and a step that is not 0");
  }
  const double count = std::max(0.0, std::ceil((stop - start) / step));
  if (count > 1e15) s.shape_error("has too many elements");
  const Shape shape{static_cast<int64_t>(count)};
  if (start == 0 && step == 1) {
    require_counts(s.name, shape[0], d, at);
    return counted(d, shape, 0, s);
  }
  const bool whole = start == std::trunc(start) && step == std::trunc(step);
  const DType own = whole && !is_inexact(d) ? DType::i64 : DType::f64;
  const Handle i = counted(own, shape, 0, s);
  const Handle scaled = emit<prim::Mul>(s, {i, splat(step, {own, shape}, s)});
  return convert(emit<prim::Add>(s, {scaled, splat(start, {own, shape}, s)}), d, s);
}

Handle eye(DType d, int64_t n, Location at) {
  const Site s{"eye", at};
  check_tracing(d, s);
  check_count(n, s);
  const DType index = n > INT32_MAX ? DType::i64 : DType::i32;
  const Shape shape{n, n};
  return convert(emit<prim::Eq>(s, {counted(index, shape, 0, s), counted(index, shape, 1, s)}), d, s);
}

Handle linspace(DType d, double low, double high, int64_t n, Location at) {
  const Site s{"linspace", at};
  check_tracing(d, s);
  check_count(n, s);
  const Shape shape{n};
  if (n < 2) return splat(low, {d, shape}, s);
  const Type t{DType::f64, shape};
  const Handle i = counted(DType::f64, shape, 0, s);
  const double step = (high - low) / static_cast<double>(n - 1);
  const Handle line = emit<prim::Add>(s, {emit<prim::Mul>(s, {i, splat(step, t, s)}), splat(low, t, s)});
  // The end is exact.
  const Handle last = emit<prim::Eq>(s, {i, splat(static_cast<double>(n - 1), t, s)});
  return convert(select(last, splat(high, t, s), line, s), d, s);
}

Handle linspace_without_end(DType d, double low, double high, int64_t n, Location at) {
  const Site s{"linspace", at};
  check_count(n, s);
  const Handle with_end = linspace(d, low, high, n + 1, at);
  return slice_axis(with_end, 0, 0, n, 1, s);
}

// ---- effects

namespace {

std::vector<Handle> values(std::span<const Operand> xs, const Site& s) {
  std::vector<Handle> out;
  for (const Operand& x : xs) out.push_back(value(x, s));
  return out;
}

}  // namespace

void debug_print(std::string_view format, std::span<const Operand> xs, Location at) {
  const Site s{"debug_print", at};
  innermost(s.name, at);
  std::vector<Handle> none;
  detail::emit(prim::get<prim::DebugPrint>(), values(xs, s), {{"format", std::string(format)}}, {}, at, none);
}

std::vector<Handle> host_call(std::shared_ptr<const HostFunction> function, std::span<const Type> results,
                              std::span<const Operand> xs, Location at) {
  const Site s{"host_call", at};
  innermost(s.name, at);
  std::vector<Handle> out;
  detail::emit(prim::get<prim::HostCall>(), values(xs, s),
               {{"function", std::shared_ptr<const Opaque>(std::move(function))},
                {"results", std::vector<Type>(results.begin(), results.end())}},
               {}, at, out);
  return out;
}

}  // namespace calque::detail::ops
