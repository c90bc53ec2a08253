// Conversions between all pairs of dtypes, compared with plain C++ and, for 16-bit floats, an exact reference rounding.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "codegen/scalar/element_bytes.h"
#include "support/kernel_builder.h"
#include "support/near_ties.h"

namespace calque::test {
namespace {

template <class To, class From>
To expected(From v) {
  if constexpr (kHalf<From>) {
    return expected<To>(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (kHalf<To>) {
    if constexpr (std::is_floating_point_v<From>) {
      if (std::isnan(v)) return std::numeric_limits<To>::quiet_NaN();
    }
    return static_cast<To>(static_cast<float>(round_exactly<To>(v)));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    if (static_cast<long double>(v) >= static_cast<long double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    if (static_cast<long double>(v) <= static_cast<long double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <class T>
std::vector<T> inputs() {
  std::vector<T> v;
  if constexpr (std::is_same_v<T, bool>) {
    v = {true, false, true};
  } else if constexpr (kFloat<T>) {
    using L = std::numeric_limits<T>;
    for (const double x : {0.0,
                           0.25,
                           0.5,
                           0.99,
                           1.0,
                           1.5,
                           2.5,
                           127.0,
                           127.5,
                           128.0,
                           129.0,
                           255.0,
                           256.0,
                           32767.5,
                           32768.0,
                           65504.0,
                           65519.0,
                           65519.999,
                           65520.0,
                           65535.0,
                           65536.0,
                           2147483647.0,
                           2147483648.0,
                           4294967295.0,
                           4294967296.0,
                           9.2233720368547748e18,
                           9.3e18,
                           1.8446744073709552e19,
                           1e30,
                           3.39e38,
                           3.4e38,
                           1e300,
                           5.9e-8,
                           2.98e-8,
                           2.9802322387695312e-08,
                           2.9802322387695315e-08,
                           1e-5,
                           6.1e-5,
                           1e-40,
                           1e-45,
                           1.00048828125,
                           1.000488281250001,
                           1.00390625,
                           1.0039062500000002,
                           1.00146484375,
                           9.183549615799121e-41,
                           4.6e-41,
                           4.5917748078995606e-41,
                           4.591774807899561e-41,
                           1e-300})
      for (const double s : {1.0, -1.0}) v.push_back(static_cast<T>(s * x));
    for (const T x : {L::infinity(), L::max(), L::min(), L::denorm_min()}) {
      v.push_back(x);
      v.push_back(static_cast<T>(-x));
    }
    v.push_back(L::quiet_NaN());
  } else {
    using L = std::numeric_limits<T>;
    v = {T(0),
         T(1),
         T(2),
         T(77),
         T(127),
         T(128),
         T(255),
         T(-1),
         T(-77),
         L::max(),
         T(L::max() - 1),
         L::min(),
         T(L::min() + 1),
         T(L::max() / 2 + 1),
         T(16777217),
         T(33554435),
         T(9007199254740993),
         T(257),
         T(259),
         T(65519),
         T(65520),
         T((1 << 30) + (1 << 22) + 1)};
  }
  Rng rng(7);
  const std::vector<T> more = near_ties<T>(rng);
  v.insert(v.end(), more.begin(), more.end());
  return v;
}

/// The values of one dtype, and the results of plain C++ for each in every dtype, as bytes.
struct Conversions {
  DType from;
  size_t count;
  std::vector<uint8_t> values;
  struct Target {
    DType to;
    std::vector<uint8_t> expected;
  };
  std::vector<Target> targets;
};

template <class From, class... To>
Conversions conversions() {
  const std::vector<From> values = inputs<From>();
  Conversions all{dtype_of<From>, values.size(), bytes_of(values), {}};
  const auto add = [&]<class T>(T (*f)(From)) {
    std::vector<T> expected;
    for (const From v : values) expected.push_back(f(v));
    all.targets.push_back({dtype_of<T>, bytes_of(expected)});
  };
  (add(&expected<To, From>), ...);
  return all;
}

void expect_conversions(const Conversions& all, const std::string& level, bool vectorize) {
  const auto n = static_cast<int64_t>(all.count);
  KernelBuilder k("convert");
  const int32_t in = k.input(all.from, n);
  std::vector<int32_t> outs;
  for (const auto& t : all.targets) outs.push_back(k.output(t.to, n));
  k.parallel(n, vectorize, [&](Id i) {
    const Id v = k.load(in, i);
    for (size_t o = 0; o < outs.size(); ++o) k.store(outs[o], i, k.convert(all.targets[o].to, v));
  });
  Guarded<uint8_t> x(all.values);
  std::vector<std::unique_ptr<Guarded<uint8_t>>> results;
  std::vector<void*> pointers{x.data()};
  for (const auto& t : all.targets)
    pointers.push_back(results.emplace_back(std::make_unique<Guarded<uint8_t>>(t.expected.size()))->data());
  run(k.program(), pointers, cpu(level));
  for (size_t o = 0; o < outs.size(); ++o) {
    const auto& [to, expected] = all.targets[o];
    for (size_t e = 0; e < all.count; ++e) {
      const uint8_t *got = results[o]->data() + e * size_of(to), *want = expected.data() + e * size_of(to);
      ASSERT_TRUE(same(to, got, want)) << level << (vectorize ? " vector " : " scalar ") << name(all.from) << " to "
                                       << name(to) << " of "
                                       << show(all.from, all.values.data() + e * size_of(all.from)) << " (input " << e
                                       << ") gave " << show(to, got) << ", expected " << show(to, want);
    }
  }
}

template <class T>
class Convert : public testing::Test {};
using Types = testing::Types<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float16,
                             bfloat16, float, double>;
TYPED_TEST_SUITE(Convert, Types);

TYPED_TEST(Convert, RoundsAndSaturatesAsDefined) {
  const Conversions all = conversions<TypeParam, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                      uint64_t, float16, bfloat16, float, double>();
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false}) ASSERT_NO_FATAL_FAILURE(expect_conversions(all, level, vectorize));
}

/// Every f16 and bf16 converted to f32 and back, and the midpoints of neighbours.
template <class H>
void round_trip() {
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("trip");
    const int32_t in = k.input(dtype_of<H>, 65536), wide = k.output(DType::f32, 65536),
                  back = k.output(dtype_of<H>, 65536);
    const int32_t halfway = k.output(dtype_of<H>, 65536);
    k.parallel(65536, true, [&](Id i) {
      const Id v = k.convert(DType::f32, k.load(in, i));
      k.store(wide, i, v);
      k.store(back, i, k.convert(dtype_of<H>, v));
      const double step = std::is_same_v<H, float16> ? 1.0 / 2048 : 1.0 / 256;
      k.store(halfway, i, k.convert(dtype_of<H>, k.mul(v, k.constant(static_cast<float>(1.0 + step)))));
    });
    std::vector<uint16_t> bits(65536), back_bits(65536), half_bits(65536);
    std::vector<float> values(65536);
    for (size_t i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i);
    run(k.program(), {bits.data(), values.data(), back_bits.data(), half_bits.data()}, cpu(level));
    for (size_t i = 0; i < 65536; ++i) {
      const auto h = std::bit_cast<H>(bits[i]);
      const auto exact = static_cast<float>(h);
      if (std::isnan(exact)) {
        ASSERT_TRUE(std::isnan(values[i])) << level << ' ' << i;
        ASSERT_TRUE(std::isnan(static_cast<float>(std::bit_cast<H>(back_bits[i])))) << level << ' ' << i;
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(exact)) << level << ' ' << i;
      ASSERT_EQ(back_bits[i], bits[i]) << level;
      const double step = std::is_same_v<H, float16> ? 1.0 / 2048 : 1.0 / 256;
      const double middle = static_cast<double>(exact * static_cast<float>(1.0 + step));
      ASSERT_EQ(static_cast<double>(static_cast<float>(std::bit_cast<H>(half_bits[i]))), round_exactly<H>(middle))
          << level << ' ' << middle;
    }
  }
}

TEST(ConvertHalf, F16RoundTripsAndRoundsHalfwayToEven) { round_trip<float16>(); }
TEST(ConvertHalf, BF16RoundTripsAndRoundsHalfwayToEven) { round_trip<bfloat16>(); }

TEST(ConvertHalf, MovingBitsKeepsSignallingNaN) {
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("move");
    const int32_t in = k.input(DType::f16, 65536), out = k.output(DType::f16, 65536),
                  bits = k.output(DType::u16, 65536);
    k.parallel(65536, true, [&](Id i) {
      const Id v = k.load(in, i);
      k.store(out, i, v);
      k.store(bits, i, k.op("bitcast", DType::u16, {v}));
    });
    std::vector<uint16_t> x(65536), y(65536), z(65536);
    for (size_t i = 0; i < 65536; ++i) x[i] = static_cast<uint16_t>(i);
    run(k.program(), {x.data(), y.data(), z.data()}, cpu(level));
    EXPECT_EQ(x, y);
    EXPECT_EQ(x, z);
  }
}

TEST(ConvertBool, AnyNonzeroByteIsTrue) {
  KernelBuilder k("bools");
  const int32_t in = k.input(DType::bool_, 256), out = k.output(DType::i32, 256), copy = k.output(DType::bool_, 256);
  k.parallel(256, true, [&](Id i) {
    const Id v = k.load(in, i);
    k.store(out, i, k.convert(DType::i32, v));
    k.store(copy, i, v);
  });
  std::vector<uint8_t> x(256), c(256);
  std::vector<int32_t> y(256);
  for (size_t i = 0; i < 256; ++i) x[i] = static_cast<uint8_t>(i);
  run(k.program(), {x.data(), y.data(), c.data()});
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(y[i], i != 0);
    EXPECT_EQ(c[i], i != 0);
  }
}

TEST(Bitcast, ReinterpretsAllWidths) {
  for (const std::string& level : cpu_levels()) {
    KernelBuilder k("bits");
    const int32_t f = k.input(DType::f32, 5), d = k.input(DType::f64, 5);
    const int32_t u = k.output(DType::u32, 5), back = k.output(DType::f32, 5), v = k.output(DType::i64, 5);
    k.parallel(5, true, [&](Id i) {
      const Id bits = k.op("bitcast", DType::u32, {k.load(f, i)});
      k.store(u, i, bits);
      k.store(back, i, k.op("bitcast", DType::f32, {k.op("xor", {bits, k.constant<uint32_t>(0x80000000)})}));
      k.store(v, i, k.op("bitcast", DType::i64, {k.load(d, i)}));
    });
    std::vector<float> x{0.0f, -1.5f, 3.0f, 1e-40f, INFINITY}, y(5);
    std::vector<double> z{0.0, -1.5, 3.0, 1e-310, -INFINITY};
    std::vector<uint32_t> bits(5);
    std::vector<int64_t> wide(5);
    run(k.program(), {x.data(), z.data(), bits.data(), y.data(), wide.data()}, cpu(level));
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(bits[i], std::bit_cast<uint32_t>(x[i]));
      EXPECT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(-x[i]));
      EXPECT_EQ(wide[i], std::bit_cast<int64_t>(z[i]));
    }
  }
}

}  // namespace
}  // namespace calque::test
