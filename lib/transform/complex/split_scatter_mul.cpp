// scatter_mul of complex numbers: a loop over the index vectors, which reads a window, multiplies and writes it.
#include <algorithm>

#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;
using Ints = std::vector<int64_t>;

namespace {

bool has(const Ints& list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); }

Ints range(int64_t from, int64_t count) {
  Ints list;
  for (int64_t i = 0; i < count; ++i) list.push_back(from + i);
  return list;
}

/// A scatter of one window, without batching dimensions: those of the given scatter are components of the index.
struct WindowScatter {
  Ints inserted, map, window, sizes;  ///< window: the extents of the dimensions that are not inserted

  WindowScatter(const Attributes& a, const Shape& x, const Shape& updates) {
    const Ints& batching = a.ints("operand_batching_dims");
    inserted = a.ints("inserted_window_dims");
    inserted.insert(inserted.end(), batching.begin(), batching.end());
    std::sort(inserted.begin(), inserted.end());
    map = a.ints("scatter_dims_to_operand_dims");
    map.insert(map.end(), batching.begin(), batching.end());
    for (const int64_t d : a.ints("update_window_dims")) window.push_back(updates[static_cast<size_t>(d)]);
    size_t next = 0;
    for (int64_t d = 0; d < x.rank(); ++d) sizes.push_back(has(inserted, d) ? 1 : window[next++]);
  }

  Value gather(const Writer& w, Value x, Value index) const {
    return w.emit(id_of<Gather>, {x, index},
                  {{"collapsed_slice_dims", inserted},
                   {"indices_batching_dims", Ints{}},
                   {"mode", std::string("zero")},
                   {"offset_dims", range(0, static_cast<int64_t>(window.size()))},
                   {"operand_batching_dims", Ints{}},
                   {"slice_sizes", sizes},
                   {"start_index_map", map}});
  }
  Value scatter(const Writer& w, Value x, Value index, Value update) const {
    return w.emit(id_of<Scatter>, {x, index, update},
                  {{"indices_batching_dims", Ints{}},
                   {"inserted_window_dims", inserted},
                   {"operand_batching_dims", Ints{}},
                   {"scatter_dims_to_operand_dims", map},
                   {"update_window_dims", range(0, static_cast<int64_t>(window.size()))}});
  }
};

/// The index vectors as rows of i64, with a component for each batching dimension.
Value index_rows(const Writer& w, Value indices, const Ints& batching, int64_t count) {
  const Shape shape = w.shape(indices);
  const int64_t last = shape.rank() - 1;
  const Shape column = shape.with(static_cast<size_t>(last), 1);
  ValueList parts{w.convert(indices, DType::i64)};
  for (const int64_t d : batching) parts.push_back(w.iota(DType::i64, column, d));
  const Value whole = w.concatenate(std::move(parts), last);
  return w.reshape(whole, Shape({count, w.shape(whole)[static_cast<size_t>(last)]}));
}

}  // namespace

bool split_scatter_mul(const ComplexEquation& s) {
  if (s.e.id() != id_of<ScatterMul>) return false;
  const Writer& w = s.w;
  const Attributes& a = s.e.attributes();
  const Parts x = s.parts(0), updates = s.parts(2);
  const Shape of_x = w.shape(x.re), of_updates = w.shape(updates.re), of_indices = w.shape(s.real(1));
  const DType dtype = w.dtype(x.re);
  if (of_x.num_elements() == 0 || of_updates.num_elements() == 0) {
    s.values.set_parts(s.e.result(), x);
    return true;
  }
  const WindowScatter form(a, of_x, of_updates);
  const int64_t count = of_indices.without(of_indices.size() - 1).num_elements();
  const Shape row(form.window);
  Ints perm;
  for (int64_t d = 0; d < of_updates.rank(); ++d)
    if (!has(a.ints("update_window_dims"), d)) perm.push_back(d);
  perm.insert(perm.end(), a.ints("update_window_dims").begin(), a.ints("update_window_dims").end());
  const auto rows = [&](Value v) { return w.reshape(w.transpose(v, perm), row.with_inserted(0, count)); };
  const Value index = index_rows(w, s.real(1), a.ints("indices_batching_dims"), count);

  Graph body;
  const Value re = body.add_input({dtype, of_x}), im = body.add_input({dtype, of_x});
  const Value at = body.add_input({DType::i64, w.shape(index).without(0)});
  const Value by_re = body.add_input({dtype, row}), by_im = body.add_input({dtype, row});
  const Writer inner(body, w.location());
  const TermParts here{{&inner, form.gather(inner, re, at)}, {&inner, form.gather(inner, im, at)}};
  const TermParts p = complex_numbers::product<Term>(here, {{&inner, by_re}, {&inner, by_im}});
  const Value next_re = form.scatter(inner, re, at, p.re.value);
  body.set_outputs({next_re, form.scatter(inner, im, at, p.im.value)});
  std::vector<Graph> bodies;
  bodies.push_back(std::move(body));
  ValueList operands{x.re, x.im, index, rows(updates.re)};
  operands.push_back(rows(updates.im));
  const Equation& scan = w.append(
      id_of<Scan>, std::move(operands),
      {{"carry", int64_t{2}}, {"consts", int64_t{0}}, {"length", count}, {"reverse", false}, {"unroll", int64_t{1}}},
      std::move(bodies));
  s.values.set_parts(s.e.result(), {scan.result(0), scan.result(1)});
  return true;
}

}  // namespace calque::transform
