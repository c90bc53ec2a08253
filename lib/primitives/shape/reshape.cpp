#include "primitives/shape/reshape.h"

#include <fmt/format.h>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/lowering_helpers.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// The row-major linear index of `index` within the dimensions [begin, end) of a shape.
Scalar linearize(Lowering& l, const Shape& shape, size_t begin, size_t end, std::span<const Scalar> index) {
  Scalar sum = l.index(0);
  bool zero = true;
  for (size_t d = begin; d < end; ++d) {
    if (shape[d] == 1) continue;
    sum = zero ? index[d] : l.add(l.mul(sum, shape[d]), index[d]);
    zero = false;
  }
  return sum;
}

}  // namespace

void Reshape::infer(Typing& t) {
  const Type& x = t.operand(0);
  const List& shape = t.ints("shape");
  std::vector<Type> results;
  t.result(x.dtype, shape);
  if (Shape(shape).num_elements() != x.shape.num_elements()) {
    t.shape_error(
        fmt::format("expects {} elements, got {} for shape {}", x.shape.num_elements(), to_string(x), to_text(shape)));
  }
}

void Reshape::evaluate(Evaluation& e) { e.results.emplace_back(e.result_types[0], e.operands[0].storage()); }

Scalar Reshape::lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index) {
  const Shape& from = l.graph().shape(e.operand(0));
  const Shape& to = l.graph().shape(e.result(result));
  Indices in(from.size(), l.index(0));
  if (from.num_elements() == 0) return l.operand(0, in);
  // Maps the shortest runs of dimensions with equal products of extents on both sides to each other.
  size_t i = 0;
  size_t o = 0;
  while (i < from.size() || o < to.size()) {
    const size_t i0 = i;
    const size_t o0 = o;
    int64_t a = i < from.size() ? from[i++] : 1;
    int64_t b = o < to.size() ? to[o++] : 1;
    while (a != b) {
      if (a < b) {
        a *= from[i++];
      } else {
        b *= to[o++];
      }
    }
    if (a == 1) continue;  // only extents of 1: the index is 0
    const Scalar linear = linearize(l, to, o0, o, index);
    int64_t below = a;
    for (size_t d = i0; d < i; ++d) {
      below /= from[d];
      if (from[d] == 1) continue;
      Scalar s = below == 1 ? linear : l.div(linear, below);
      if (below * from[d] != a) s = l.mod(s, from[d]);
      in[d] = s;
    }
  }
  return l.operand(0, in);
}

void Reshape::jvp(Jvp& j) { jvp_same_view(j); }

void Reshape::transpose(Transposition& t) { t.add(0, t.writer.reshape(t.cotangents[0], t.operand_type(0).shape)); }

void Reshape::batch(Batching& b) {
  b.result(b.emit<Reshape>({b.operands[0]}, {{"shape", prepended(b.size, b.attributes().ints("shape"))}}));
}

}  // namespace calque::primitives
