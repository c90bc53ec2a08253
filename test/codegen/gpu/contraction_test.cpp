// Matrix products on the GPU simulator. Factors are small integers, so that sums are exact in every dtype and order,
// and results must be bitwise equal; the simulator itself detects races, reads of uninitialized memory, and accesses
// out of bounds. Tests with numbers that round check the order of sums.
#include <cmath>

#include <gtest/gtest.h>

#include "codegen/gpu/device_code.h"
#include "kernel/schedule_gpu/gpu_tiles.h"
#include "runtime/simulator/simulator.h"
#include "support/kernel_builder.h"
#include "support/ptxas.h"
#include "support/random/random.h"
#include "support/sanitizers.h"
#include "support/stages.h"

namespace calque::test {
namespace {

struct Product {
  int64_t rows = 1, columns = 1, k = 1;
  DType dtype = DType::f32;
  bool transposed[2] = {false, false};  ///< stored transposed
  int64_t batch = 1;
  bool fast_math = false, strict = false;
  bool computed[2] = {false, false};  ///< three times the value in memory
  int64_t alignment = 64;             ///< of factors
  int64_t pad = 0;                    ///< padding elements after each row
  bool whole = true;                  ///< integers, so sums are exact
};

std::string describe(const Product& p) {
  std::string s = std::string(name(p.dtype)) + " " + std::to_string(p.batch) + " x " + std::to_string(p.rows) + " x " +
                  std::to_string(p.k) + " x " + std::to_string(p.columns);
  for (size_t f = 0; f < 2; ++f) {
    if (p.transposed[f]) s += f == 0 ? ", left transposed" : ", right transposed";
    if (p.computed[f]) s += f == 0 ? ", left computed" : ", right computed";
  }
  if (p.fast_math) s += ", fast";
  if (p.strict) s += ", strict";
  return s + ", alignment " + std::to_string(p.alignment) + ", pad " + std::to_string(p.pad);
}

DType sum_of(DType d) { return d == DType::f16 || d == DType::bf16 ? DType::f32 : d; }

struct Layout {
  int64_t step[2], matrix;  ///< by row and by column; from one matrix of the batch to the next
};

Layout layout(const Product& p, size_t which) {
  const int64_t rows = which == 0 ? p.rows : p.k, columns = which == 0 ? p.k : p.columns;
  if (p.transposed[which]) return {{1, rows + p.pad}, (rows + p.pad) * columns};
  return {{columns + p.pad, 1}, (columns + p.pad) * rows};
}

/// out[b, m, n] = sum of the product + bias[n].
Program program_of(const Product& p) {
  KernelBuilder b("product");
  const Layout at[2] = {layout(p, 0), layout(p, 1)};
  int32_t factors[2];
  for (size_t f = 0; f < 2; ++f) {
    factors[f] = b.input(p.dtype, at[f].matrix * p.batch);
    b.kernel().buffers[static_cast<size_t>(factors[f])].alignment = p.alignment;
  }
  const int32_t bias = b.input(sum_of(p.dtype), p.columns);
  const int32_t out = b.output(sum_of(p.dtype), p.batch * p.rows * p.columns);
  const auto index = [&](Id base, Id i, int64_t by_i, Id j, int64_t by_j) {
    return b.add(base, b.add(b.mul(i, b.index(by_i)), b.mul(j, b.index(by_j))));
  };
  const auto product = [&](Id batch) {
    const auto factor = [&](size_t f) {
      return [&, f](Id i, Id j) {
        const Id base = b.mul(batch, b.index(at[f].matrix));
        const Id v = b.load(factors[f], index(base, i, at[f].step[0], j, at[f].step[1]));
        return p.computed[f] ? b.add(v, b.add(v, v)) : v;
      };
    };
    b.contraction(
        p.rows, p.columns, p.k, factor(0), factor(1),
        [&](Id m, Id n, Id sum) {
          const Id base = b.mul(batch, b.index(p.rows * p.columns));
          b.store(out, index(base, m, p.columns, n, 1), b.add(sum, b.load(bias, n)));
        },
        kernel::ParallelMapping::groups);
  };
  if (p.batch == 1) {
    product(b.index(0));
  } else {
    b.parallel(p.batch, false, product);
    b.kernel().body.instructions.back().mapping = kernel::ParallelMapping::groups;
  }
  auto* nest = &b.kernel().body;
  while (nest->instructions.back().op != Op::contraction) nest = &nest->instructions.back().regions[0];
  kernel::Instruction& i = nest->instructions.back();
  const auto tiles = kernel::choose_gpu_tiles(b.kernel(), i, p.fast_math);
  if (!tiles) throw std::runtime_error("no tiles");
  i.gpu_tiles = std::make_shared<const kernel::GpuTiles>(*tiles);
  b.kernel().launch = {p.batch * tiles->count(i.rows, i.columns), tiles->threads, tiles->threads};
  return b.program();
}

codegen::DeviceOptions options_of(const Product& p) {
  codegen::DeviceOptions options;
  options.strict = p.strict;
  options.fast_math = p.fast_math;
  return options;
}

template <class T>
using Sum = std::conditional_t<sizeof(T) == 2 && !std::is_integral_v<T>, float, T>;

template <class T>
struct Operands {
  std::vector<T> factors[2];
  std::vector<Sum<T>> bias;
};

template <class T>
Operands<T> operands_of(const Product& p) {
  Rng rng(static_cast<uint64_t>(p.rows * 1009 + p.columns * 31 + p.k));
  const auto one = [&]<class U>(U) {
    if (p.whole) return static_cast<U>(static_cast<float>(rng.between(std::is_unsigned_v<U> ? 0 : -4, 4)));
    return static_cast<U>(static_cast<float>(rng.between(-1000000, 1000000)) / 1e6F);
  };
  Operands<T> o;
  for (size_t f = 0; f < 2; ++f)
    for (int64_t n = 0; n < layout(p, f).matrix * p.batch; ++n) o.factors[f].push_back(one(T()));
  for (int64_t n = 0; n < p.columns; ++n) o.bias.push_back(one(Sum<T>()));
  return o;
}

template <class T>
Sum<T> expected(const Product& p, const Operands<T>& o, int64_t batch, int64_t m, int64_t n) {
  const Layout a = layout(p, 0), b = layout(p, 1);
  Sum<T> sum{};
  for (int64_t k = 0; k < p.k; ++k) {
    auto x = static_cast<Sum<T>>(o.factors[0][static_cast<size_t>(batch * a.matrix + m * a.step[0] + k * a.step[1])]);
    auto y = static_cast<Sum<T>>(o.factors[1][static_cast<size_t>(batch * b.matrix + k * b.step[0] + n * b.step[1])]);
    if (p.computed[0]) x = static_cast<Sum<T>>(x * 3);
    if (p.computed[1]) y = static_cast<Sum<T>>(y * 3);
    if constexpr (std::is_integral_v<T>) {
      sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    } else {
      sum = p.strict ? sum + x * y : std::fma(x, y, sum);
    }
  }
  return static_cast<Sum<T>>(sum + o.bias[static_cast<size_t>(n)]);
}

/// Describes the first result that differs by more than `tolerance`.
template <class T>
std::string mistake(const Product& p, double tolerance = 0) {
  const auto compiled = test::stages::simulated(program_of(p), options_of(p));
  const Operands<T> o = operands_of<T>(p);
  runtime::SimulatedMemory memory;
  const auto on_device = [&](const auto& values) {
    const size_t bytes = values.size() * sizeof(values[0]);
    void* at = memory.allocate(bytes);
    std::memcpy(at, values.data(), bytes);
    return at;
  };
  const auto count = static_cast<size_t>(p.batch * p.rows * p.columns);
  void* buffers[] = {on_device(o.factors[0]), on_device(o.factors[1]), on_device(o.bias),
                     memory.allocate(count * sizeof(Sum<T>))};
  runtime::launch(*compiled, 0, buffers, memory);
  const auto* got = static_cast<const Sum<T>*>(buffers[3]);
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    const int64_t n = i % p.columns, m = i / p.columns % p.rows;
    const Sum<T> want = expected<T>(p, o, i / p.columns / p.rows, m, n);
    if (got[i] == want || std::abs(static_cast<double>(got[i]) - static_cast<double>(want)) <= tolerance) continue;
    return describe(p) + ": [" + std::to_string(m) + ", " + std::to_string(n) + "] is " + std::to_string(got[i]) +
           ", not " + std::to_string(want);
  }
  return {};
}

std::string mistake_of(const Product& p) {
  try {
    return visit_dtype(p.dtype, [&]<class T>() -> std::string {
      if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::complex<float>> ||
                    std::is_same_v<T, std::complex<double>>)
        return "no such product";
      else
        return mistake<T>(p);
    });
  } catch (const Error& e) {
    return describe(p) + ": " + e.what();
  }
}

TEST(GpuContraction, HasEveryDTypeAndLayout) {
  constexpr DType kDTypes[] = {DType::i8, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64};
  int number = 0;
  for (const DType d : kDTypes)
    for (int transposed = 0; transposed < 4; ++transposed) {
      Product p{40, 72, 48, d, {transposed % 2 == 1, transposed / 2 == 1}};
      p.alignment = ++number % 3 == 0 ? 1 : 64;
      if (kAddressSanitizer && number % 5 % 2 == 0) continue;  // instrumented code takes long to compile and to run
      ASSERT_EQ(mistake_of(p), "");
      if (d != DType::f32) continue;
      p.fast_math = true;
      ASSERT_EQ(mistake_of(p), "");
    }
}

// One wave of the largest tiles, the last of which overlap their predecessors.
TEST(GpuContraction, HasLargeTiles) {
  Product p{1401, 3064, 36, DType::bf16};
  int64_t tiles = 11 * 12;
  if (kAddressSanitizer) {
    // About the smallest product for which no smaller tile is chosen: 34 matrices of two tiles, and one step of K.
    p = {193, 193, 20, DType::bf16};
    p.batch = 34;
    tiles = p.batch * 2;
  }
  EXPECT_EQ(program_of(p).kernels[0].launch->groups, tiles);
  EXPECT_EQ(mistake_of(p), "");
}

/// Seeds of other runs: CALQUE_TEST_PRODUCTS=first,count.
std::pair<uint64_t, uint64_t> seeds() {
  unsigned long long first = 0, count = kAddressSanitizer ? 8 : 40;
  if (const char* text = std::getenv("CALQUE_TEST_PRODUCTS")) std::sscanf(text, "%llu,%llu", &first, &count);
  return {first, count};
}

TEST(GpuContraction, HasRaggedEdges) {
  constexpr int64_t kSides[] = {8, 13, 16, 17, 33, 64, 65, 97, 128, 130},
                    kExtentsOfK[] = {4, 5, 8, 17, 31, 33, 65, 128};
  constexpr DType kDTypes[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i16};
  const auto [first, count] = seeds();
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Rng rng(seed);
    Product p{rng.pick(kSides), rng.pick(kSides), rng.pick(kExtentsOfK), rng.pick(kDTypes)};
    if (p.rows * p.columns < 256) continue;
    for (size_t f = 0; f < 2; ++f) {
      p.transposed[f] = rng.chance(50);
      p.computed[f] = rng.chance(25);
    }
    p.fast_math = rng.chance(50);
    p.strict = !p.fast_math && rng.chance(30);
    p.alignment = rng.chance(60) ? 64 : 2;
    p.pad = rng.chance(30) ? rng.between(1, 8) : rng.chance(50) ? 8 : 0;
    p.batch = rng.chance(20) ? rng.between(2, 3) : 1;
    ASSERT_EQ(mistake_of(p), "") << "seed " << seed;
  }
}

// A sum is a chain of fused multiply-adds over K, in strict mode of multiplications and additions.
TEST(GpuContraction, AddsKElementsInOrder) {
  for (const DType d : {DType::f32, DType::f64, DType::bf16})
    for (const bool strict : {false, true}) {
      Product p{33, 40, 70, d, {true, false}};
      p.strict = strict;
      p.whole = false;
      if (d == DType::bf16 && !strict) continue;  // the matrix units' own order
      EXPECT_EQ(mistake_of(p), "");
    }
}

// f32 sums of the matrix units: rounding errors of sums of 300 numbers up to 1; tf32 has 11 bits of each factor.
TEST(GpuContraction, IsAsAccurateAsTheMatrixUnits) {
  Product p{48, 64, 300, DType::bf16};
  p.whole = false;
  EXPECT_EQ(mistake<bfloat16>(p, 1e-4), "");
  p.dtype = DType::f32;
  p.fast_math = true;
  EXPECT_EQ(mistake<float>(p, 300 * std::ldexp(1.0, -12)), "");
  EXPECT_NE(mistake<float>(p, 1e-5), "");
}

// ---- PTX

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

std::string ptx_of(const Product& p, const std::string& arch) {
  codegen::DeviceOptions options = options_of(p);
  options.arch = arch;
  return test::stages::ptx(program_of(p), options);
}

// A warp computes 64 x 64 accumulators with 32 K elements per step: 64 instructions, for which 8 read the left and 8
// the right factor.
TEST(GpuContraction, FeedsTheMatrixUnits) {
  const std::string ptx = ptx_of({4096, 4096, 4096, DType::bf16}, "sm_90a");
  EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k16"), 64U);
  EXPECT_EQ(count(ptx, "ldmatrix"), 16U + 8U);  // and those of the first half step
  EXPECT_EQ(count(ptx, "cp.async.cg"), 4U * 6U);
  EXPECT_EQ(count(ptx, "ld.global"), 4U);  // of the bias, in the epilogue
  EXPECT_EQ(count(ptx, "bar.sync") + count(ptx, "barrier.sync"), 4U);
}

class GpuContractionText : public testing::TestWithParam<const char*> {};

TEST_P(GpuContractionText, SpillsNothing) {
  if (!find_ptxas()) GTEST_SKIP() << kNoPtxas;
  Product products[] = {{4096, 4096, 4096, DType::bf16},
                        {4095, 4095, 4095, DType::f16, {false, true}},
                        {4096, 4096, 4096, DType::f32, {false, true}},
                        {4096, 4096, 4096, DType::f32, {true, false}},
                        {1024, 1024, 1024, DType::f64}};
  products[3].fast_math = true;
  for (const Product& p : products) EXPECT_EQ(ptxas_complaint(ptx_of(p, GetParam()), GetParam()), "") << describe(p);
}

INSTANTIATE_TEST_SUITE_P(Archs, GpuContractionText, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace calque::test
