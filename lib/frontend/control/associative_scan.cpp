// Prefix scan in logarithmic depth, by recursion on pairs: combine neighbours, scan the results (half as many), combine
// those with the elements between them. The operation runs in the trace itself, on whole arrays. Few elements are
// combined one after another in a loop: a level has kernels of its own, which take long to compile.
#include "frontend/control/control_common.h"
#include "primitives/registry.h"

namespace calque::detail {
namespace {

/// The longest loops of operations on elements. A step of a mathematical function takes some 40 ns, a level of the
/// recursion on few elements as long as two.
constexpr int64_t kLoop = 128, kLoopOfFunctions = 16;

struct Scanner {
  BodyRef combine;
  int axis;
  const ControlSite& site;
  int64_t longest_loop = 1;  ///< extents up to this are scanned in a loop
  ops::Site s{"associative_scan", site.location};

  int64_t extent(Handle x) const { return ops::shape(x)[static_cast<size_t>(axis)]; }

  Handles sliced(const Handles& xs, int64_t start, int64_t limit, int64_t stride) const {
    Handles out;
    for (Handle x : xs) out.push_back(ops::slice_axis(x, axis, start, limit, stride, s));
    return out;
  }

  Handles combined(const Handles& left, const Handles& right) const {
    Handles both = left;
    both.insert(both.end(), right.begin(), right.end());
    Handles out = run_body(combine, both);
    check(types_of(left), types_of(out));
    return out;
  }

  void check(const std::vector<Type>& in, const std::vector<Type>& got) const {
    if (in == got) return;
    if (in.size() != got.size()) {
      s.shape_error("the operation takes " + std::to_string(in.size()) + " leaves a side and returns " +
                    std::to_string(got.size()));
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] == got[i]) continue;
      const std::string text = "associative_scan: the operation changes a type, " + to_string(in[i]) + " in and " +
                               to_string(got[i]) + " out" + where_leaf(site, i);
      if (in[i].dtype != got[i].dtype) throw DTypeError(text);
      throw ShapeError(text);
    }
  }

  Handle joined(Handle x, Handle y) const {
    const Operand parts[] = {x, y};
    return ops::concatenate(parts, axis, s.at);
  }

  /// x[0], y[0], x[1], y[1], ...
  Handle interleaved(Handle x, Handle y) const {
    const int64_t pairs = extent(x);
    const Shape one = ops::shape(x).with_inserted(static_cast<size_t>(axis) + 1, 1);
    const Operand columns[] = {ops::reshape(x, one, s), ops::reshape(y, one, s)};
    const Shape flat = ops::shape(x).with(static_cast<size_t>(axis), 2 * pairs);
    return ops::reshape(ops::concatenate(columns, axis + 1, s.at), flat, s);
  }

  Handles scan(const Handles& xs) const {
    const int64_t n = extent(xs[0]);
    if (n < 2) return xs;
    if (n <= longest_loop) return scan_in_loop(xs);
    const Handles odd = scan(combined(sliced(xs, 0, n - 1, 2), sliced(xs, 1, n, 2)));
    Handles out = sliced(xs, 0, 1, 1);
    Handles even;
    if (n > 2) even = combined(sliced(odd, 0, (n - 1) / 2, 1), sliced(xs, 2, n, 2));
    // The first element stands where both parts keep their extent: slices of values would be computed once more.
    for (size_t i = 0; i < out.size(); ++i) {
      if (n % 2 != 0) {
        out[i] = joined(out[i], interleaved(odd[i], even[i]));
      } else {
        out[i] = interleaved(n > 2 ? joined(out[i], even[i]) : out[i], odd[i]);
      }
    }
    return out;
  }

  /// 1 unless each element of the operation's results depends on elements of its operands alone.
  int64_t find_longest_loop(const Handles& xs) const {
    Handles both = xs;
    both.insert(both.end(), xs.begin(), xs.end());
    const std::vector<Type> types = types_of(both);
    const TraceResult traced = trace_graph(s.name, types, combine);
    const Graph& g = traced.graph;
    int64_t longest = kLoop;
    for (const Equation& e : g.equations()) {
      const primitives::LowerKind kind = primitives::lower_kind(g, e);
      if (kind == primitives::LowerKind::structural) return 1;
      if (kind == primitives::LowerKind::function) longest = kLoopOfFunctions;
    }
    return longest;
  }

  /// The axis as the leading dimension, or back, other dimensions in order.
  Handle moved(Handle x, int from, int to) const {
    ops::Ints order;
    for (int64_t i = 0; i < ops::shape(x).rank(); ++i) {
      if (i != from) order.push_back(i);
    }
    order.insert(order.begin() + to, from);
    return ops::transpose(x, order, s);
  }

  // The operation gets operands of extent 1 along the axis.
  Handles scan_in_loop(const Handles& xs) const {
    const int64_t n = extent(xs[0]);
    const auto along = static_cast<size_t>(axis);
    Handles first, rest;
    for (const Handle x : xs) {
      first.push_back(ops::slice_axis(x, axis, 0, 1, 1, s));
      const Handle steps = moved(ops::slice_axis(x, axis, 1, n, 1, s), axis, 0);
      rest.push_back(ops::reshape(steps, ops::shape(steps).with_inserted(along + 1, 1), s));
    }
    const TraceBody step = [&](std::span<const Handle> in, Handles& out) {
      const auto carry = in.first(xs.size()), element = in.last(xs.size());
      const Handles next = combined({carry.begin(), carry.end()}, {element.begin(), element.end()});
      out = next;
      out.insert(out.end(), next.begin(), next.end());
    };
    const Handles results = scan_named(s.name, step, first, rest, {}, site, 0);
    Handles out;
    for (size_t i = 0; i < xs.size(); ++i) {
      const Handle y = results[xs.size() + i];
      out.push_back(joined(first[i], moved(ops::reshape(y, ops::shape(y).without(along + 1), s), 0, axis)));
    }
    return out;
  }
};

}  // namespace

std::vector<Handle> associative_scan(BodyRef combine, std::span<const Handle> xs, bool reverse, int axis,
                                     const ControlSite& site) {
  const ops::Site s{"associative_scan", site.location};
  if (xs.empty()) return {};
  Handles values;
  int normal = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    const Type t = ops::type(xs[i]), first = ops::type(xs[0]);
    const int a = ops::normal_axis(axis, t.shape.rank(), t, s);
    if (i == 0) normal = a;
    if (a != normal || t.shape[static_cast<size_t>(a)] != first.shape[static_cast<size_t>(normal)]) {
      s.shape_error("arrays differ in extent along axis " + std::to_string(axis) + ", got " + to_string(first) +
                    " and " + to_string(t));
    }
    values.push_back(reverse ? ops::flip(xs[i], a, s.at) : xs[i]);
  }
  Scanner scanner{combine, normal, site};
  if (scanner.extent(values[0]) > 1 && !runs_eagerly(s.name, site))
    scanner.longest_loop = scanner.find_longest_loop(values);
  Handles out = scanner.scan(values);
  if (reverse) {
    for (Handle& h : out) h = ops::flip(h, normal, s.at);
  }
  return out;
}

}  // namespace calque::detail
