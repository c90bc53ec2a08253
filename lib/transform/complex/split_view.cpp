// Views and indexing. A view of joined numbers has a further dimension, the last; a view of parts is two views.
#include <algorithm>

#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;
using Ints = std::vector<int64_t>;

namespace {

Attributes with_last(Attributes attributes, std::string_view name, int64_t last) {
  Ints list = attributes.ints(name);
  list.push_back(last);
  attributes.set(name, std::move(list));
  return attributes;
}

/// Whether the equation is written on joined numbers: the first operand that was computed decides, of concatenations a
/// single one in parts.
bool is_joined(const ComplexEquation& s) {
  if (s.e.id() == id_of<Iota>) return false;
  bool joined = false;
  for (size_t i = 0; i < s.e.operands().size(); ++i) {
    if (!s.is_complex(i)) continue;
    if (s.values.is_computed_in_parts(s.e.operand(i))) return false;
    if (!s.values.is_computed_joined(s.e.operand(i))) continue;
    if (s.e.id() != id_of<Concatenate>) return true;
    joined = true;
  }
  return joined;
}

void split_parts(const ComplexEquation& s) {
  const auto part = [&](Value Parts::* member) {
    ValueList operands;
    for (size_t i = 0; i < s.e.operands().size(); ++i)
      operands.push_back(s.is_complex(i) ? s.parts(i).*member : s.real(i));
    return s.w.emit(s.e.id(), std::move(operands), s.e.attributes());
  };
  const Value re = part(&Parts::re);
  s.values.set_parts(s.e.result(), {re, part(&Parts::im)});
}

/// The attributes of the equation on joined numbers.
Attributes joined_attributes(const ComplexEquation& s) {
  const Attributes& a = s.e.attributes();
  const int64_t rank = s.type(0).shape.rank(), result_rank = s.result_type().shape.rank();
  switch (s.e.id()) {
    case id_of<Broadcast>:
      return with_last(with_last(a, "axes", result_rank), "shape", 2);
    case id_of<Reshape>:
      return with_last(a, "shape", 2);
    case id_of<Transpose>:
      return with_last(a, "perm", rank);
    case id_of<Slice>:
      return with_last(with_last(with_last(a, "start", 0), "limit", 2), "stride", 1);
    case id_of<Pad>:
      return with_last(with_last(with_last(a, "low", 0), "high", 0), "interior", 0);
    case id_of<DynamicSlice>:
      return with_last(a, "sizes", 2);
    case id_of<Gather>:
      return with_last(with_last(a, "slice_sizes", 2), "offset_dims", result_rank);
    case id_of<Scatter>:
    case id_of<ScatterAdd>:
      return with_last(a, "update_window_dims", s.type(2).shape.rank());
    default:
      return a;
  }
}

void split_joined(const ComplexEquation& s) {
  ValueList operands;
  for (size_t i = 0; i < s.e.operands().size(); ++i) operands.push_back(s.is_complex(i) ? s.joined(i) : s.real(i));
  const bool has_starts = s.e.id() == id_of<DynamicSlice> || s.e.id() == id_of<DynamicUpdateSlice>;
  if (has_starts) {
    const bool is_scalar = s.type(0).shape.rank() == 0;
    const DType index = is_scalar ? DType::i32 : s.w.dtype(operands[operands.size() - 1]);
    operands.push_back(s.w.splat(0, {index, {}}));
  }
  Value out = s.w.emit(s.e.id(), std::move(operands), joined_attributes(s));
  if (s.e.id() == id_of<Diagonal>) {  // the diagonal is the last dimension, behind that of the parts
    const size_t rank = s.w.shape(out).size();
    out = s.w.move_axis(out, rank - 2, rank - 1);
  }
  s.values.set_joined(s.e.result(), out);
}

}  // namespace

bool split_view(const ComplexEquation& s) {
  switch (s.e.id()) {
    case id_of<Iota>: {
      Attributes attributes = s.e.attributes();
      attributes.set("dtype", real_of(s.result_type().dtype));
      const Value re = s.w.emit(id_of<Iota>, {}, std::move(attributes));
      s.values.set_parts(s.e.result(), {re, s.w.zeros(s.w.type(re))});
      return true;
    }
    case id_of<Pad>: {
      const Parts value = s.parts(1);
      const Graph& g = s.w.graph();
      const bool is_splat =
          g.is_literal(value.re) && g.is_literal(value.im) && g.literal(value.re) == g.literal(value.im);
      if (!is_splat || !is_joined(s)) {
        split_parts(s);
        return true;
      }
      s.values.set_joined(s.e.result(), s.w.emit(id_of<Pad>, {s.joined(0), value.re}, joined_attributes(s)));
      return true;
    }
    case id_of<Broadcast>:
    case id_of<Reshape>:
    case id_of<Transpose>:
    case id_of<Reverse>:
    case id_of<Slice>:
    case id_of<Concatenate>:
    case id_of<Diagonal>:
    case id_of<DynamicSlice>:
    case id_of<DynamicUpdateSlice>:
    case id_of<Gather>:
    case id_of<Scatter>:
    case id_of<ScatterAdd>:
      is_joined(s) ? split_joined(s) : split_parts(s);
      return true;
    default:
      return false;
  }
}

}  // namespace calque::transform
