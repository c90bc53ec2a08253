// vmap of every primitive against a loop over examples: any axes of inputs and outputs, batch sizes 0, 1, 2 and 5, bit
// for bit on the reference, within rounding errors when compiled.
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/op_table.h"
#include "support/transforms.h"
#include "transform/batch/vmap.h"

namespace calque::test {
namespace {

using Arrays = std::vector<AnyArray>;
using Axes = std::vector<BatchAxis>;

struct BatchCase {
  const OpRow* row;
  Graph graph;
  Arrays inputs;
  Axes in_axes, out_axes;
  int64_t size;
};

std::string describe(const BatchCase& c) {
  std::ostringstream out;
  out << "\n"
      << c.graph << "in_axes " << axes_text(c.in_axes) << "; out_axes " << axes_text(c.out_axes) << "; size " << c.size
      << "\n";
  for (const AnyArray& a : c.inputs) out << a << "\n";
  return out.str();
}

/// Batches of a case's operands: new numbers for each example, indices for integer operands.
BatchCase batch_of(const OpRow& row, const OpCase& op, const Axes& in_axes, int64_t size, Rng& rng) {
  BatchCase c{&row, graph_of(row, op), {}, in_axes, {}, size};
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Type& type = op.operands[i].type();
    if (!in_axes[i]) {
      c.inputs.push_back(op.operands[i]);
      continue;
    }
    const Domain domain = is_integer(type.dtype) ? Domain::index : Domain::any;
    c.inputs.push_back(sample_array(batched_type(type, in_axes[i], size), rng, domain));
  }
  for (const Value v : c.graph.outputs()) c.out_axes.emplace_back(rng.between(0, c.graph.shape(v).rank()));
  return c;
}

/// All choices of an axis or none for each operand, except none for all; a sample if there are many.
std::vector<Axes> choices(const OpCase& op, size_t most, Rng& rng) {
  std::vector<Axes> all{{}};
  for (const AnyArray& a : op.operands) {
    std::vector<Axes> longer;
    for (const Axes& axes : all) {
      for (int64_t axis = -1; axis <= a.rank(); ++axis) {
        longer.push_back(axes);
        longer.back().push_back(axis < 0 ? BatchAxis() : BatchAxis(axis));
      }
    }
    if (longer.size() > 4096) rng.shuffle(longer), longer.resize(4096);
    all = std::move(longer);
  }
  std::erase_if(all, [](const Axes& axes) {
    return std::ranges::none_of(axes, [](const BatchAxis& a) { return a.has_value(); });
  });
  if (all.size() > most) rng.shuffle(all), all.resize(most);
  return all;
}

/// `body` returns an error message for a batch, or nothing; the first error of each primitive is reported.
template <class Body>
int for_each_batch_case(std::initializer_list<DType> dtypes, const std::vector<Shape>& shapes, size_t most, Body body) {
  constexpr int64_t kSizes[] = {2, 5, 1, 2, 5, 0};
  int count = 0;
  for (const OpRow& row : op_table()) {
    // The positions of permute are no indices of their own: test/sorting.
    if (row.primitive().name == "debug_print" || row.primitive().name == "permute") continue;
    Rng rng(position(row) + 500);
    std::string wrong;
    for (const DType dtype : dtypes) {
      if (!primitives::contains(row.dtypes, dtype)) continue;
      for (const Shape& shape : shapes) {
        const auto op = row.make({dtype, shape, Domain::any}, rng);
        if (!op) continue;
        for (const Axes& axes : choices(*op, most, rng)) {
          if (!wrong.empty()) break;
          const BatchCase c = batch_of(row, *op, axes, rng.pick(kSizes), rng);
          try {
            wrong = body(c, rng);
          } catch (const std::exception& e) {
            wrong = std::string("threw ") + e.what();
          }
          if (!wrong.empty()) ADD_FAILURE() << wrong << describe(c);
          ++count;
        }
      }
    }
  }
  return count;
}

std::string difference_of(const Arrays& got, const Arrays& want, const Graph& batched) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (same_numbers(got.at(i), want[i])) continue;
    std::ostringstream out;
    out << "got " << got[i] << "\nwant " << want[i] << "\n" << batched;
    return out.str();
  }
  return {};
}

std::string loop_error(const BatchCase& c) {
  const Graph batched = transform::vmap(c.graph, c.in_axes, c.size, c.out_axes);
  batched.verify("vmap");
  const Arrays want = looped(c.graph, c.inputs, c.in_axes, c.size, c.out_axes);
  return difference_of(reference::evaluate(batched, c.inputs), want, batched);
}

TEST(Batching, EqualsALoopForAllAxes) {
  const int count = for_each_batch_case({DType::f32, DType::i32}, op_shapes(), 24,
                                        [](const BatchCase& c, Rng&) { return loop_error(c); });
  EXPECT_GT(count, 10'000);
}

TEST(Batching, EqualsALoopForAllDTypes) {
  using enum DType;
  for_each_batch_case({bool_, i8, i16, i64, u8, u16, u32, u64, f16, bf16, f64, c64, c128}, {{}, {7}, {3, 4}, {0, 3}}, 3,
                      [](const BatchCase& c, Rng&) { return loop_error(c); });
}

/// Sums are reassociated: their difference depends on the largest term.
bool reassociates(const BatchCase& c) {
  const std::string& name = c.row->primitive().name;
  return name == "reduce_sum" || name == "reduce_prod" || name == "dot_general";
}

TEST(Batching, CompiledEqualsTheLoop) {
  for_each_batch_case({DType::f32}, {{7}, {3, 4}}, 4, [](const BatchCase& c, Rng&) -> std::string {
    const Graph batched = transform::vmap(c.graph, c.in_axes, c.size, c.out_axes);
    if (c.row->primitive().has_effect || rounds_in_its_own_way(*c.row) || (reassociates(c) && !all_finite(c.inputs)))
      return {};
    for (uint32_t i = 0; i < batched.num_values(); ++i) {
      if (is_complex(batched.dtype(Value(i)))) return {};  // compiled code has no complex numbers
    }
    const Arrays want = looped(c.graph, c.inputs, c.in_axes, c.size, c.out_axes);
    codegen::CodegenOptions strict;
    strict.strict = true;
    const double atol = reassociates(c) ? 1e-5 * largest(c.inputs) * largest(c.inputs) : 0;
    return far_apart(run_native(batched, c.inputs, strict), want, 1e-5, atol);
  });
}

TEST(Batching, NestsInAnyOrder) {
  for_each_batch_case({DType::f32}, {{3, 4}}, 6, [](const BatchCase& c, Rng& rng) -> std::string {
    BatchCase outer{c.row, transform::vmap(c.graph, c.in_axes, c.size, c.out_axes), {}, {}, {}, rng.between(1, 3)};
    const size_t certain = rng.below(c.inputs.size());
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const AnyArray& a = c.inputs[i];
      outer.in_axes.push_back(i == certain || rng.chance(60) ? BatchAxis(rng.between(0, a.rank())) : BatchAxis());
      const Domain domain = is_integer(a.dtype()) ? Domain::index : Domain::any;
      outer.inputs.push_back(sample_array(batched_type(a.type(), outer.in_axes[i], outer.size), rng, domain));
    }
    for (const Value v : outer.graph.outputs())
      outer.out_axes.emplace_back(rng.between(0, outer.graph.shape(v).rank()));
    const std::string wrong = loop_error(outer);
    return wrong.empty() ? wrong : wrong + describe(outer);
  });
}

TEST(Batching, KeepsWhatDoesNotDependOnTheBatch) {
  const Graph g = parse(
      "calque 1\n"
      "graph (%0: f32[3], %1: f32[3]) {\n"
      "  %2 = exp %1\n"
      "  %3 = reduce_sum[axes=[0]] %2\n"
      "  %4 = mul %0 %2\n"
      "  return %3, %4, %1\n"
      "}\n");
  const Graph batched = transform::vmap(g, {BatchAxis(1), std::nullopt}, 5, {std::nullopt, BatchAxis(0), BatchAxis(1)});
  batched.verify("vmap");
  EXPECT_EQ(batched.output_types(), (std::vector<Type>{{DType::f32, {}}, {DType::f32, {5, 3}}, {DType::f32, {3, 5}}}));
  for (const Equation& e : batched.equations()) {
    if (e.primitive() == "exp") {
      EXPECT_EQ(batched.shape(e.result()), (Shape{3}));
    }
    if (e.primitive() == "reduce_sum") {
      EXPECT_EQ(batched.shape(e.result()), (Shape{}));
    }
  }
  EXPECT_THROW(transform::vmap(g, {BatchAxis(1), std::nullopt}, 5, {std::nullopt, std::nullopt, std::nullopt}),
               ShapeError);
}

TEST(Batching, OfLiteralAndConstantOutputs) {
  Graph g;
  g.add_input({DType::f32, {2}});
  const Value one = g.add_literal(Literal::of<float>(1), {DType::f32, {2}});
  const Value c = g.add_constant(AnyArray::full(Shape{3}, 4.0F));
  g.set_outputs({one, c, g.inputs()[0], g.inputs()[0]});
  const Graph batched = transform::vmap(g, {BatchAxis(0)}, 3, {BatchAxis(1), BatchAxis(0), BatchAxis(1), BatchAxis(0)});
  batched.verify("vmap");
  Rng rng(1);
  const Arrays x = uniform(batched.input_types(), rng);
  const Axes out{BatchAxis(1), BatchAxis(0), BatchAxis(1), BatchAxis(0)};
  EXPECT_EQ(far_apart(reference::evaluate(batched, x), looped(g, x, {BatchAxis(0)}, 3, out), 0, 0), "");
}

}  // namespace
}  // namespace calque::test
