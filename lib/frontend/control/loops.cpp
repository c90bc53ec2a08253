// while_loop, fori_loop, scan and map. A fori_loop is a scan whose carry starts with a counter, or a while loop if the
// bounds are not known while tracing.
#include <optional>

#include "frontend/control/control_common.h"
#include "trace/builder.h"
#include "trace/literals.h"

namespace calque::detail {
namespace {

const TraceOptions kLoopBody{.eager = false, .values = {}, .paths = {}, .loop_body = true};

Handles concatenated(std::span<const Handle> a, std::span<const Handle> b) {
  Handles all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// ---- while

void check_condition(const ops::Site& s, std::span<const Type> out, std::span<const Type> carry, bool per_element) {
  if (out.size() != 1)
    s.shape_error("the condition must return one bool, got " + std::to_string(out.size()) + " leaves");
  if (out[0].dtype != DType::bool_) s.dtype_error("the condition must return a bool, got " + to_string(out[0]));
  const Shape& lanes = out[0].shape;
  if (lanes.rank() == 0) return;
  if (!per_element) {
    s.shape_error("the condition must return a scalar, got " + to_string(out[0]) + "; reduce it with any or all");
  }
  for (const Type& t : carry) {
    bool fits = t.shape.rank() >= lanes.rank();
    for (size_t i = 0; fits && i < lanes.size(); ++i) fits = t.shape[i] == lanes[i];
    if (!fits) {
      s.shape_error("with a condition of " + to_string(out[0]) + " every carry must have a shape that starts with " +
                    to_string(lanes) + ", got " + to_string(t) +
                    "; for one loop over all, reduce the condition with any or all");
    }
  }
}

/// One step of a per-element loop: elements whose condition is false keep their carry.
void keep_finished(Handle running, const Handles& before, Handles& after, const ops::Site& s) {
  ops::Ints axes;
  for (int i = 0; i < ops::shape(running).rank(); ++i) axes.push_back(i);
  for (size_t i = 0; i < after.size(); ++i) {
    const Handle lanes = ops::broadcast_in(running, ops::shape(after[i]), axes, s);
    after[i] = ops::select(lanes, after[i], before[i], s);
  }
}

Handles while_eagerly(const ops::Site& s, BodyRef condition, BodyRef body, std::span<const Handle> initial,
                      const ControlSite& site, bool per_element, size_t num_internal) {
  Handles carry(initial.begin(), initial.end());
  const std::vector<Type> types = types_of(carry);
  while (true) {
    const Handles running = run_body(condition, carry);
    check_condition(s, types_of(running), types, per_element);
    const Handle any = ops::any(running[0], {}, false, s.at);
    if (!*concrete(any, "a bool", s.at).data_as<bool>()) return carry;
    Handles next = run_body(body, carry);
    check_carry(s.name, types, types_of(next), site, num_internal);
    if (ops::shape(running[0]).rank() > 0) keep_finished(running[0], carry, next, s);
    carry = std::move(next);
  }
}

}  // namespace

Handles while_named(std::string_view operation, BodyRef condition, BodyRef body, std::span<const Handle> initial,
                    const ControlSite& site, bool per_element, size_t num_internal) {
  const ops::Site s{operation, site.location};
  if (runs_eagerly(operation, site)) return while_eagerly(s, condition, body, initial, site, per_element, num_internal);
  const std::vector<Type> types = types_of(initial);
  TraceResult cond = trace_graph("condition", types, condition, kLoopBody);
  check_condition(s, cond.graph.output_types(), types, per_element);
  TraceResult step = trace_graph("body", types, body, kLoopBody);
  check_carry(operation, types, step.graph.output_types(), site, num_internal);
  TraceResult* one[] = {&cond};
  const Handles cond_consts = unify_captures(one, /*captures_first=*/true);
  one[0] = &step;
  const Handles body_consts = unify_captures(one, /*captures_first=*/true);
  const Handles operands = concatenated(concatenated(cond_consts, body_consts), initial);
  std::vector<Graph> subgraphs;
  subgraphs.push_back(std::move(cond.graph));
  subgraphs.push_back(std::move(step.graph));
  Handles results;
  emit(ops::prim::get<ops::prim::While>(), operands,
       {{"body_consts", static_cast<int64_t>(body_consts.size())},
        {"cond_consts", static_cast<int64_t>(cond_consts.size())}},
       std::move(subgraphs), site.location, results);
  return results;
}

std::vector<Handle> while_loop(BodyRef condition, BodyRef body, std::span<const Handle> initial,
                               const ControlSite& site, bool per_element) {
  return while_named("while_loop", condition, body, initial, site, per_element, 0);
}

// ---- scan

namespace {

/// The common leading extent of the xs, and the types of their slices.
int64_t scan_length(const ops::Site& s, std::span<const Handle> xs, int64_t asked, std::vector<Type>& slices) {
  int64_t length = asked;
  for (Handle x : xs) {
    const Type t = ops::type(x);
    if (t.shape.rank() == 0) s.shape_error("needs arrays to go along, got " + to_string(t));
    if (length >= 0 && t.shape[0] != length) {
      s.shape_error("needs " + std::to_string(length) + " slices along the leading dimension, got " + to_string(t));
    }
    length = t.shape[0];
    slices.push_back({t.dtype, t.shape.without(0)});
  }
  if (length < 0) s.shape_error("needs a length where there are no arrays to go along");
  return length;
}

Handle slice_of(Handle x, int64_t index, const ops::Site& s) {
  const Handle row = ops::slice_axis(x, 0, index, index + 1, 1, s);
  return ops::reshape(row, ops::shape(x).without(0), s);
}

Handles scan_eagerly(const ops::Site& s, BodyRef body, std::span<const Handle> initial, std::span<const Handle> xs,
                     int64_t length, bool reverse, std::span<const Type> types, const ControlSite& site,
                     size_t num_internal) {
  Handles carry(initial.begin(), initial.end());
  const std::vector<Type> carry_types = types_of(carry);
  if (length == 0) {
    // The body is traced for the types of the empty results.
    const TraceResult step = trace_graph(s.name, types, body);
    const std::vector<Type> out = step.graph.output_types();
    for (size_t i = carry.size(); i < out.size(); ++i) {
      carry.push_back(ops::splat(0, {out[i].dtype, out[i].shape.with_inserted(0, 0)}, s));
    }
    return carry;
  }
  std::vector<std::vector<Operand>> ys;
  for (int64_t k = 0; k < length; ++k) {
    Handles inputs = carry;
    for (Handle x : xs) inputs.push_back(slice_of(x, reverse ? length - 1 - k : k, s));
    const Handles out = run_body(body, inputs);
    if (out.size() < carry.size()) check_carry(s.name, carry_types, types_of(out), site, num_internal);
    check_carry(s.name, carry_types, types_of(std::span(out).first(carry.size())), site, num_internal);
    ys.resize(out.size() - carry.size());
    for (size_t i = 0; i < ys.size(); ++i) ys[i].insert(reverse ? ys[i].begin() : ys[i].end(), out[carry.size() + i]);
    carry.assign(out.begin(), out.begin() + static_cast<ptrdiff_t>(carry.size()));
  }
  for (const std::vector<Operand>& y : ys) carry.push_back(ops::stack(y, 0, s.at));
  return carry;
}

}  // namespace

Handles scan_named(std::string_view operation, BodyRef body, std::span<const Handle> carry, std::span<const Handle> xs,
                   const ScanParameters& parameters, const ControlSite& site, size_t num_internal) {
  const ops::Site s{operation, site.location};
  const bool eager = runs_eagerly(operation, site);
  if (parameters.unroll < 1) s.shape_error("needs a positive unroll, got " + std::to_string(parameters.unroll));
  std::vector<Type> types = types_of(carry), slices;
  const int64_t length = scan_length(s, xs, parameters.length, slices);
  const std::vector<Type> carry_types = types;
  types.insert(types.end(), slices.begin(), slices.end());
  if (eager) return scan_eagerly(s, body, carry, xs, length, parameters.reverse, types, site, num_internal);
  TraceResult step = trace_graph("body", types, body, kLoopBody);
  std::vector<Type> out = step.graph.output_types();
  if (out.size() > carry.size()) out.resize(carry.size());
  check_carry(operation, carry_types, out, site, num_internal);
  TraceResult* one[] = {&step};
  const Handles consts = unify_captures(one, /*captures_first=*/true);
  const Handles operands = concatenated(concatenated(consts, carry), xs);
  std::vector<Graph> subgraphs;
  subgraphs.push_back(std::move(step.graph));
  Handles results;
  emit(ops::prim::get<ops::prim::Scan>(), operands,
       {{"carry", static_cast<int64_t>(carry.size())},
        {"consts", static_cast<int64_t>(consts.size())},
        {"length", length},
        {"reverse", parameters.reverse},
        {"unroll", parameters.unroll}},
       std::move(subgraphs), site.location, results);
  return results;
}

std::vector<Handle> scan(BodyRef body, std::span<const Handle> carry, std::span<const Handle> xs,
                         const ScanParameters& parameters, const ControlSite& site) {
  return scan_named("scan", body, carry, xs, parameters, site, 0);
}

std::vector<Handle> map(BodyRef body, std::span<const Handle> xs, const ControlSite& site) {
  return scan_named("map", body, {}, xs, {}, site, 0);
}

// ---- fori

namespace {

/// The value of a bound that is known while tracing.
std::optional<int64_t> known_bound(const Operand& x) {
  switch (x.kind()) {
    case Operand::Kind::weak:
      if (x.weak().is_integer() && !(x.weak().is_unsigned && x.weak().integer < 0)) return x.weak().integer;
      return std::nullopt;
    case Operand::Kind::array:
      if (x.array().rank() != 0 || !is_integer(x.array().dtype()) || x.array().device() != Device{})
        return std::nullopt;
      return visit_dtype(x.array().dtype(), [&]<class T>() -> std::optional<int64_t> {
        if constexpr (std::integral<T> && !std::same_as<T, bool>) {
          const T v = *x.array().data_as<T>();
          if (std::in_range<int64_t>(v)) return static_cast<int64_t>(v);
        }
        return std::nullopt;
      });
    default:
      return std::nullopt;
  }
}

bool fits_i32(const WeakLiteral& w) {
  return w.is_unsigned ? std::in_range<int32_t>(static_cast<uint64_t>(w.integer)) : std::in_range<int32_t>(w.integer);
}

Handle bound(const Operand& x, std::string_view what, DType index, const ops::Site& s) {
  const DType own = ops::operand_dtype(x, s);
  if (!is_integer(own)) s.dtype_error(std::string(what) + " must be an integer, got " + std::string(name(own)));
  if (x.kind() == Operand::Kind::weak && index == DType::i32 && !fits_i32(x.weak())) {
    const WeakLiteral& w = x.weak();
    s.dtype_error(std::string(what) + " " +
                  (w.is_unsigned ? std::to_string(static_cast<uint64_t>(w.integer)) : std::to_string(w.integer)) +
                  " does not fit int32_t, in which bounds that are C++ integers count; pass an int64_t array or tracer "
                  "as a bound, as in cq::Array<int64_t>(n)");
  }
  const Handle h = x.kind() == Operand::Kind::weak ? ops::value(x, index, s) : scalar(x, what, s);
  return ops::convert(h, index, s);
}

}  // namespace

std::vector<Handle> fori_loop(const Operand& lower, const Operand& upper, DType index, BodyRef body,
                              std::span<const Handle> initial, const ControlSite& site) {
  const ops::Site s{"fori_loop", site.location};
  const bool eager = runs_eagerly(s.name, site);
  const Handle first = bound(lower, "the lower bound", index, s), end = bound(upper, "the upper bound", index, s);
  const Handle carry[] = {first};
  const Handles all = concatenated(carry, initial);
  const TraceBody step = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    const Handles next = run_body(body, inputs);
    outputs.push_back(ops::add(inputs[0], ops::lit(1), s.at));
    outputs.insert(outputs.end(), next.begin(), next.end());
  };
  const std::optional<int64_t> from = known_bound(lower), to = known_bound(upper);
  Handles results;
  if (from && to && !eager) {
    ScanParameters parameters;
    int64_t count = 0;
    if (*from < *to && __builtin_sub_overflow(*to, *from, &count)) s.shape_error("the bounds are too far apart");
    parameters.length = count;
    // All outputs of the body are carries: check here, so that surplus ones do not become stacked results.
    const TraceBody checked = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      step(inputs, outputs);
      check_carry(s.name, types_of(inputs), types_of(outputs), site, 1);
    };
    results = scan_named(s.name, checked, all, {}, parameters, site, 1);
  } else {
    const TraceBody below = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      outputs.push_back(ops::less(inputs[0], end, s.at));
    };
    results = while_named(s.name, below, step, all, site, false, 1);
  }
  results.erase(results.begin());
  return results;
}

}  // namespace calque::detail
