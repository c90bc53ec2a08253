// Every primitive, dtype and a range of shapes: compiled code against the reference, on several CPU levels.
#include "support/op_table.h"

#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/kernel_builder.h"
#include "support/native.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

using primitives::id_of;

/// Sums and products of floats, whose order the code generator chooses.
bool reassociates(const OpRow& row, DType d) {
  if (!is_floating(d) && !is_complex(d)) return false;
  switch (row.id) {
    case id_of<primitives::ReduceSum>:
    case id_of<primitives::ReduceProd>:
    case id_of<primitives::DotGeneral>:
      return true;
    default:
      return false;
  }
}

/// Bit for bit; where the order of a sum is free, within 64 roundings of the dtype.
std::string check(const OpRow& row, DType dtype, const OpCase& c, const std::string& cpu) {
  const Graph g = graph_of(row, c);
  std::string d;
  if (reassociates(row, dtype)) {
    codegen::CodegenOptions options;
    options.strict = true;
    options.target.cpu = cpu;
    const auto want = reference::evaluate(g, c.operands);
    const auto got = run_native(g, c.operands, options);
    const DType t = real_of(want[0].dtype());
    const double eps = t == DType::f64 ? 0x1p-52 : t == DType::f32 ? 0x1p-23 : t == DType::f16 ? 0x1p-10 : 0x1p-7;
    d = difference(got[0], want[0], 64 * eps, t == DType::f64 ? 1e-10 : 1e-3);
  } else {
    d = compare_strictly(g, c.operands, cpu);
  }
  if (d.empty()) return d;
  std::ostringstream out;
  out << d << "\n" << g << "\n";
  for (const AnyArray& a : c.operands) out << a << "\n";
  return out.str();
}

constexpr int kSanitizedStride = 7;  // less than the number of shapes of each dtype
const int kStride = kAddressSanitizer || kThreadSanitizer ? kSanitizedStride : 1;

bool is_compiled(const OpRow& row) { return !row.primitive().has_effect && !rounds_in_its_own_way(row); }

TEST(CompiledOpSample, HasEveryPrimitiveAndDType) {
  using Key = std::pair<PrimitiveId, DType>;
  std::map<Key, int> all, taken;
  CaseSample sample(kSanitizedStride);
  for_each_op_case(1, [&](const OpRow& row, const OpRequest& request, const OpCase&) {
    if (!is_compiled(row)) return;
    ++all[{row.id, request.dtype}];
    if (sample.takes(row)) ++taken[{row.id, request.dtype}];
  });
  std::set<PrimitiveId> primitives, taken_primitives;
  for (const auto& [key, count] : all) {
    primitives.insert(key.first);
    if (taken.contains(key)) {
      taken_primitives.insert(key.first);
    } else {
      EXPECT_LT(count, kSanitizedStride) << primitive(key.first).name << " of " << name(key.second);
    }
  }
  EXPECT_EQ(taken_primitives, primitives);
}

class CompiledOp : public testing::TestWithParam<std::string> {};

TEST_P(CompiledOp, EqualsTheReference) {
  int count = 0;
  CaseSample sample(kStride);
  for_each_op_case(1, [&](const OpRow& row, const OpRequest& request, const OpCase& c) {
    if (HasFailure() || !is_compiled(row) || !sample.takes(row)) return;
    ASSERT_EQ(check(row, request.dtype, c, GetParam()), "") << row.primitive().name;
    ++count;
  });
  EXPECT_GT(count, 2000 / kStride);
}

INSTANTIATE_TEST_SUITE_P(Cpus, CompiledOp, testing::ValuesIn(cpu_levels()), [](const auto& level) {
  std::string name = level.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

}  // namespace
}  // namespace calque::test
