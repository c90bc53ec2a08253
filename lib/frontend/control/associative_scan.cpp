// Prefix scan in logarithmic depth, by recursion on pairs: combine neighbours, scan the results (half as many), combine
// those with the elements between them. The operation runs in the trace itself, on whole arrays.
#include "frontend/control/control_common.h"

namespace calque::detail {
namespace {

struct Scanner {
  const TraceBody& combine;
  int axis;
  const ControlSite& site;
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
    const std::vector<Type> in = types_of(left);
    const std::vector<Type> got = types_of(out);
    if (in == got) return out;
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
    return out;
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
};

}  // namespace

std::vector<Handle> associative_scan(const TraceBody& combine, std::span<const Handle> xs, bool reverse, int axis,
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
  Handles out = Scanner{combine, normal, site}.scan(values);
  if (reverse) {
    for (Handle& h : out) h = ops::flip(h, normal, s.at);
  }
  return out;
}

}  // namespace calque::detail
