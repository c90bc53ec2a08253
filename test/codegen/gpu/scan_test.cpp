// Cumulative loops that graphs do not lead to: several carries, uses of what precedes an iteration, bodies that store
// and load, groups of any number of warps.
#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "support/kernel_builder.h"
#include "support/simulated.h"
#include "support/stages.h"

namespace calque::test {
namespace {

std::vector<int32_t> numbers(int64_t count) {
  std::vector<int32_t> out;
  for (int64_t n = 0; n < count; ++n) out.push_back(static_cast<int32_t>(n * 7919 % 23 - 9));
  return out;
}

/// A kernel of one thread group that runs a cumulative loop, whose mapping a test chooses.
struct Scan {
  int64_t extent = 1;
  int32_t threads = 32;
  uint16_t lanes = 0;
};

/// Of each element the sum before it, the maximum up to it, and the number of elements up to it times the element.
Program several_carries(const Scan& scan) {
  KernelBuilder b;
  const int32_t x = b.input(DType::i32, scan.extent);
  std::vector<int32_t> out;
  for (int o = 0; o < 4; ++o) out.push_back(b.output(DType::i32, scan.extent));
  const int32_t last = b.output(DType::i32, 3);
  const Ids initial{b.constant<int32_t>(5), b.constant<int32_t>(-8), b.constant<int32_t>(0)};
  const Ids results = b.sequential(scan.extent, initial, [&](Id index, const Ids& carries) {
    const Id element = b.load(x, index);
    const Id sum = b.op("add", DType::i32, {carries[0], element});
    const Id most = b.op("max", DType::i32, {element, carries[1]});
    const Id count = b.op("add", DType::i32, {carries[2], b.constant<int32_t>(1)});
    b.store(out[0], index, carries[0]);
    b.store(out[1], index, most);
    b.store(out[2], index, b.op("mul", DType::i32, {count, element}));
    // Loaded after it is stored.
    b.store(out[3], index, sum);
    b.store(out[3], index, b.op("neg", DType::i32, {b.load(out[3], index)}));
    return Ids{sum, most, count};
  });
  for (size_t r = 0; r < 3; ++r) b.store(last, b.index(static_cast<int64_t>(r)), results[r]);
  for (Instruction& i : b.kernel().body.instructions) {
    if (i.op != Op::loop) continue;
    i.combiners = {Combiner::add, Combiner::max, Combiner::add};
    i.mapping = kernel::ParallelMapping::threads;
    i.vectorize = scan.lanes > 0;
    i.lanes = scan.lanes;
  }
  for (kernel::Buffer& buffer : b.kernel().buffers) buffer.alignment = 16;
  b.kernel().launch = kernel::Launch{1, scan.threads, scan.threads};
  return b.program();
}

void check_several_carries(const Scan& scan) {
  SCOPED_TRACE(testing::Message() << scan.extent << " iterations, " << scan.threads << " threads, vectors of "
                                  << scan.lanes);
  const auto x = numbers(scan.extent);
  const auto got = run_on_simulator(several_carries(scan), {x});
  std::vector<std::vector<int32_t>> want(4);
  int32_t sum = 5, most = -8, count = 0;
  for (const int32_t element : x) {
    want[0].push_back(sum);
    sum += element;
    most = std::max(most, element);
    want[1].push_back(most);
    want[2].push_back(++count * element);
    want[3].push_back(-sum);
  }
  want.push_back({sum, most, count});
  EXPECT_EQ(got, want);
}

TEST(DeviceScan, OfSeveralCarries) {
  for (const int64_t extent : {1, 3, 31, 64, 127, 129, 383, 1024, 1027, 4096, 5000})
    for (const int32_t threads : {32, 96, 256})
      for (const uint16_t lanes : {0, 4}) check_several_carries({extent, threads, lanes});
  check_several_carries({20001, 1024, 4});
}

}  // namespace
}  // namespace calque::test
