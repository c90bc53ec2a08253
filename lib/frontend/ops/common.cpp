// Literals are never converted or broadcast by equations: they are created anew with the wanted type.
#include "frontend/ops/common.h"

#include <algorithm>

#include "trace/builder.h"
#include "trace/literals.h"

namespace calque::detail::ops {

void Site::shape_error(const std::string& text) const {
  throw ShapeError(std::string(name) + ": " + text + where_text(user_location(at)));
}

void Site::dtype_error(const std::string& text) const {
  throw DTypeError(std::string(name) + ": " + text + where_text(user_location(at)));
}

void reject(const Type& got, std::string_view wanted, const Site& site) {
  site.dtype_error("needs " + std::string(wanted) + ", got " + to_string(got));
}

// ---- operands

DType operand_dtype(const Operand& x, const Site& site) {
  switch (x.kind()) {
    case Operand::Kind::tracer:
      return type_of(x.handle(), site.at).dtype;
    case Operand::Kind::array:
      return x.array().dtype();
    case Operand::Kind::weak:
      return x.weak().dtype;
    case Operand::Kind::scalar:
      return x.scalar_dtype();
  }
  __builtin_unreachable();
}

DType promoted_dtype(std::span<const Operand* const> xs, const Site& site) {
  bool strong = false, weak = false;
  DType dtype = DType::bool_, literal = DType::i32;
  for (const Operand* x : xs) {
    if (x->kind() == Operand::Kind::weak) {
      literal = weak ? join_literals(literal, x->weak().dtype) : x->weak().dtype;
      weak = true;
    } else {
      const DType d = operand_dtype(*x, site);
      dtype = strong ? promote(dtype, d) : d;
      strong = true;
    }
  }
  return weak ? promote_weak(dtype, literal) : dtype;
}

DType promoted_dtype(const Operand& x, const Operand& y, const Site& site) {
  const Operand* xs[] = {&x, &y};
  return promoted_dtype(xs, site);
}

Handle value(const Operand& x, const Site& site) {
  if (x.kind() == Operand::Kind::weak) return value(x, operand_dtype(x, site), site);
  if (x.kind() == Operand::Kind::array && x.array().empty()) {
    site.shape_error("an array that was default-constructed has no elements");
  }
  return lift(x, DType::f32, site.at);
}

Handle value(const Operand& x, DType dtype, const Site& site) {
  if (x.kind() == Operand::Kind::weak) {
    return literal(weak_literal(x.weak(), dtype, site.at, site.name), {dtype, {}}, site.at);
  }
  return convert(value(x, site), dtype, site);
}

Handle value_fitting(const Operand& x, DType dtype, const Site& site) {
  const DType own = operand_dtype(x, site);
  const DType promoted = x.kind() == Operand::Kind::weak ? promote_weak(dtype, own) : promote(dtype, own);
  if (promoted != dtype) {
    site.dtype_error("a value of " + std::string(name(own)) + " does not fit " + std::string(name(dtype)) +
                     "; cast one of them");
  }
  return value(x, dtype, site);
}

Type type(Handle h) { return type_of(h, {}); }
DType dtype(Handle h) { return type_of(h, {}).dtype; }
Shape shape(Handle h) { return type_of(h, {}).shape; }

Handle convert(Handle x, DType dtype, const Site& site) {
  if (type_of(x, site.at).dtype == dtype) return x;
  return emit<prim::Convert>(site, {x}, {{"dtype", dtype}});
}

Handle splat(double number, const Type& type, const Site& site) {
  return literal(detail::number(type.dtype, number), type, site.at);
}

Handle counted(DType dtype, const Shape& shape, int axis, const Site& site) {
  return detail::emit(prim::get<prim::Iota>(), std::initializer_list<Handle>{},
                      {{"axis", int64_t{axis}}, {"dtype", dtype}, {"shape", Ints(shape.begin(), shape.end())}},
                      site.at);
}

std::vector<Handle> promoted(std::span<const Operand> xs, const Site& site) {
  if (xs.empty()) site.shape_error("needs at least one array");
  std::vector<const Operand*> all;
  for (const Operand& x : xs) all.push_back(&x);
  const DType d = promoted_dtype(all, site);
  std::vector<Handle> values;
  for (const Operand& x : xs) values.push_back(value(x, d, site));
  return values;
}

// ---- emission

Handle broadcast_in(Handle x, const Shape& to, const Ints& axes, const Site& site) {
  Builder& b = innermost(site.name, site.at);
  const Value v = b.resolve(x, site.at);
  const Graph& g = b.graph();
  if (g.shape(v) == to) return b.handle(v);
  if (g.is_literal(v)) return literal(Literal(g.literal(v)), {g.dtype(v), to}, site.at);
  return emit<prim::Broadcast>(site, {x}, {{"axes", axes}, {"shape", Ints(to.begin(), to.end())}});
}

Handle broadcast(Handle x, const Shape& to, const Site& site) {
  const Type& from = type_of(x, site.at);
  if (from.shape == to) return x;
  const int rank = from.shape.rank(), offset = to.rank() - rank;
  bool fits = offset >= 0;
  Ints axes;
  for (int i = 0; fits && i < rank; ++i) {
    const int64_t extent = from.shape[static_cast<size_t>(i)];
    fits = extent == 1 || extent == to[static_cast<size_t>(i + offset)];
    axes.push_back(i + offset);
  }
  if (!fits) site.shape_error(to_string(from) + " does not broadcast to " + to_string(to));
  return broadcast_in(x, to, axes, site);
}

void broadcast_together(std::span<Handle> xs, const Site& site) {
  Shape common;
  for (size_t i = 0; i < xs.size(); ++i) {
    bool ok = true;
    const Shape next = broadcast_shapes(common, type_of(xs[i], site.at).shape, ok);
    if (!ok) {
      std::string got;
      for (size_t k = 0; k < xs.size(); ++k) {
        got += (k == 0 ? "" : k + 1 == xs.size() ? " and " : ", ") + to_string(type_of(xs[k], site.at));
      }
      site.shape_error("operands do not broadcast, got " + got);
    }
    common = next;
  }
  for (Handle& x : xs) x = broadcast(x, common, site);
}

Handle reshape(Handle x, const Shape& to, const Site& site) {
  Builder& b = innermost(site.name, site.at);
  const Value v = b.resolve(x, site.at);
  const Graph& g = b.graph();
  if (g.shape(v) == to) return b.handle(v);
  if (g.is_literal(v)) return b.handle(b.literal(Literal(g.literal(v)), {g.dtype(v), to}));
  return emit<prim::Reshape>(site, {x}, {{"shape", Ints(to.begin(), to.end())}});
}

Handle transpose(Handle x, const Ints& perm, const Site& site) {
  if (std::ranges::is_sorted(perm)) return x;
  return emit<prim::Transpose>(site, {x}, {{"perm", perm}});
}

Handle slice(Handle x, const Ints& start, const Ints& limit, const Ints& stride, const Site& site) {
  const Shape& s = type_of(x, site.at).shape;
  bool whole = true;
  for (size_t i = 0; i < s.size(); ++i) whole = whole && start[i] == 0 && limit[i] == s[i] && stride[i] == 1;
  if (whole) return x;
  return emit<prim::Slice>(site, {x}, {{"limit", limit}, {"start", start}, {"stride", stride}});
}

Handle slice_axis(Handle x, int axis, int64_t start, int64_t limit, int64_t stride, const Site& site) {
  const Shape s = shape(x);
  Ints starts(s.size(), 0), limits(s.begin(), s.end()), strides(s.size(), 1);
  const auto a = static_cast<size_t>(axis);
  starts[a] = start;
  limits[a] = limit;
  strides[a] = stride;
  return slice(x, starts, limits, strides, site);
}

Handle select(Handle condition, Handle x, Handle y, const Site& site) {
  return emit<prim::Select>(site, {condition, x, y});
}

Handle concatenated(std::span<const Handle> xs, int axis, const Site& site) {
  if (xs.size() == 1) return xs[0];
  return detail::emit(prim::get<prim::Concatenate>(), xs, {{"axis", int64_t{axis}}}, site.at);
}

// ---- axes

int normal_axis(int axis, int rank, const Type& of, const Site& site) {
  if (axis < -rank || axis >= rank) {
    site.shape_error("axis " + std::to_string(axis) + " is out of range for " + to_string(of));
  }
  return axis < 0 ? axis + rank : axis;
}

Ints normal_axes(const Axes& axes, const Type& of, const Site& site) {
  const int rank = of.shape.rank();
  Ints out;
  if (axes.every) {
    for (int i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }
  for (int axis : axes.list) out.push_back(normal_axis(axis, rank, of, site));
  std::ranges::sort(out);
  const auto twice = std::ranges::adjacent_find(out);
  if (twice != out.end()) {
    site.shape_error("axis " + std::to_string(*twice) + " is given twice for " + to_string(of));
  }
  return out;
}

}  // namespace calque::detail::ops
