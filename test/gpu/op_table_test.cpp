// Every primitive and dtype on the simulator against the reference, and all their kernels through the assembler, many
// to a module.
#include "support/op_table.h"

#include <sstream>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/ptxas.h"
#include "support/sanitizers.h"
#include "support/simulated.h"
#include "support/stages.h"

namespace calque::test {
namespace {

bool reassociates(const OpRow& row, DType d) {
  return (is_floating(d) || is_complex(d)) &&
         (row.id == primitives::id_of<primitives::ReduceSum> || row.id == primitives::id_of<primitives::ReduceProd> ||
          row.id == primitives::id_of<primitives::DotGeneral>);
}

/// Bit-identical; where sums may be reassociated, within 64 roundings of the dtype.
std::string check(const OpRow& row, DType dtype, const OpCase& c) {
  const Graph g = graph_of(row, c);
  codegen::DeviceOptions options;
  options.strict = true;
  const auto want = reference::evaluate(g, c.operands, kStrictReference);
  const auto got = run_simulated(g, c.operands, tiny_limits(), options);
  std::string d;
  const DType t = real_of(want[0].dtype());
  const double eps = t == DType::f64 ? 0x1p-52 : t == DType::f32 ? 0x1p-23 : t == DType::f16 ? 0x1p-10 : 0x1p-7;
  for (size_t o = 0; o < want.size() && d.empty(); ++o)
    d = reassociates(row, dtype) ? difference(got[o], want[o], 64 * eps, t == DType::f64 ? 1e-10 : 1e-3)
                                 : difference(got[o], want[o]);
  if (d.empty()) return d;
  std::ostringstream out;
  out << d << "\n" << g << "\n";
  for (const AnyArray& a : c.operands) out << a << "\n";
  return out.str();
}

/// Every kEvery-th case is run.
const int kEvery = kAddressSanitizer ? 53 : 11;

template <class F>
void for_some_op_cases(const F& f) {
  int number = 0;
  for_each_op_case(1, [&](const OpRow& row, const OpRequest& request, const OpCase& c) {
    if (row.primitive().has_effect || rounds_in_its_own_way(row) || testing::Test::HasFailure() ||
        number++ % kEvery != 0)
      return;
    f(row, request, c);
  });
}

TEST(SimulatedOp, EqualsTheReference) {
  for_some_op_cases([](const OpRow& row, const OpRequest& request, const OpCase& c) {
    std::string d;
    try {
      d = check(row, request.dtype, c);
    } catch (const Error& e) {
      d = std::string("threw ") + e.what();
    }
    EXPECT_EQ(d, "") << row.primitive().name;
  });
}

// Without steps: only kernels are assembled.
TEST(AssembledOp, IsAccepted) {
  if (!find_ptxas()) GTEST_SKIP() << kNoPtxas;
  kernel::Program all;
  for_some_op_cases([&](const OpRow& row, const OpRequest&, const OpCase& c) {
    for (kernel::Kernel& k : program_for_gpu(graph_of(row, c), tiny_limits()).kernels)
      all.kernels.push_back(std::move(k));
  });
  constexpr size_t kInModule = 200;
  for (size_t first = 0; first < all.kernels.size(); first += kInModule) {
    kernel::Program part;
    for (size_t i = first; i < std::min(first + kInModule, all.kernels.size()); ++i)
      part.kernels.push_back(all.kernels[i]);
    codegen::DeviceOptions options;
    options.arch = first / kInModule % 2 == 0 ? "sm_80" : "sm_90a";
    const Assembled assembled = assemble(test::stages::ptx(part, options), options.arch);
    ASSERT_TRUE(assembled.accepted) << assembled.messages;
    EXPECT_EQ(assembled.kernels.size(), part.kernels.size());
    // No local arrays; the assembler occasionally spills one register although others are free.
    for (const AssembledKernel& k : assembled.kernels) EXPECT_LE(k.stack_bytes, 16) << k.name;
  }
}

}  // namespace
}  // namespace calque::test
