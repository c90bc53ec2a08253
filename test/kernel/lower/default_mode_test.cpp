// Outside strict mode products and sums contract and 16-bit floats keep f32 between operations. The tolerance is
// measured: the reference runs again with every rounding perturbed at random, and the compiled graph must stay within a
// few times the resulting deviation.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "calque/ir/interpreter.h"

#include "primitives/registry.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/op_table.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "transform/simplify/inline_calls.h"

namespace calque::test {
namespace {

double epsilon(DType d) {
  switch (d) {
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::f32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

/// Calls f with an array's elements as T, for the four floating-point types.
template <class F>
void visit_floats(DType d, F&& f) {
  switch (d) {
    case DType::f16:
      return f.template operator()<float16>();
    case DType::bf16:
      return f.template operator()<bfloat16>();
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    default:
      return;
  }
}

std::vector<double> as_doubles(const AnyArray& a) {
  std::vector<double> out;
  visit_floats(a.dtype(), [&]<class T>() {
    const T* p = static_cast<const T*>(a.data());
    for (int64_t i = 0; i < a.size(); ++i) out.push_back(static_cast<double>(p[i]));
  });
  return out;
}

/// The reference with every rounding perturbed by up to two units: for sums, units of the sum of the terms' magnitudes.
/// Code may keep intermediate values of 16-bit types in f32: so functions of them are perturbed too, and what overflows
/// in the 16-bit type may as well be finite.
class Perturbed : public Interpreter {
 public:
  /// `finite`: what overflows in a 16-bit type is always finite, else sometimes.
  Perturbed(uint64_t seed, bool finite) : rng_(seed), finite_(finite) {}

  std::vector<AnyArray> equation(const Equation& e, const std::vector<AnyArray>& operands) override {
    std::vector<AnyArray> results = Interpreter::equation(e, operands);
    const bool narrow = is_narrow_function(e, results);
    if (!narrow && !rounds(e.primitive())) return results;
    const std::vector<AnyArray> sizes = sums(e.primitive()) ? Interpreter::equation(e, magnitudes(operands)) : results;
    for (size_t k = 0; k < results.size(); ++k) {
      AnyArray& r = results[k];
      visit_floats(r.dtype(), [&]<class T>() {
        AnyArray moved = AnyArray::uninitialized(r.type());
        const T* from = static_cast<const T*>(r.data());
        const T* size = static_cast<const T*>(sizes[k].data());
        T* to = static_cast<T*>(moved.mutable_data());
        for (int64_t i = 0; i < r.size(); ++i) {
          const double units = static_cast<double>(rng_.between(-2, 2));
          const double x = static_cast<double>(from[i]), scale = std::fabs(static_cast<double>(size[i]));
          const double unit = std::max(scale, static_cast<double>(std::numeric_limits<T>::min())) * epsilon(r.dtype());
          const double largest = static_cast<double>(std::numeric_limits<T>::max());
          const bool overflows = sizeof(T) == 2 && std::isinf(x);
          to[i] = std::isfinite(scale)                  ? static_cast<T>(x + units * unit)
                  : overflows && (finite_ || units > 0) ? static_cast<T>(std::copysign(largest, x))
                                                        : from[i];
        }
        r = std::move(moved);
      });
    }
    return results;
  }

 private:
  /// A function of lib/math with a result of a 16-bit type.
  static bool is_narrow_function(const Equation& e, const std::vector<AnyArray>& results) {
    const DType d = results.empty() ? DType::bool_ : results[0].dtype();
    return (d == DType::f16 || d == DType::bf16) &&
           primitives::rules(e.id()).kind(d) == primitives::LowerKind::function;
  }
  static bool sums(std::string_view primitive) {
    return primitive == "dot_general" || primitive == "reduce_sum" || primitive == "cumsum";
  }
  static std::vector<AnyArray> magnitudes(const std::vector<AnyArray>& operands) {
    std::vector<AnyArray> out;
    for (const AnyArray& a : operands) {
      out.push_back(AnyArray::uninitialized(a.type()));
      if (a.bytes() != 0) std::memcpy(out.back().mutable_data(), a.data(), a.bytes());
      visit_floats(a.dtype(), [&]<class T>() {
        T* p = static_cast<T*>(out.back().mutable_data());
        for (int64_t i = 0; i < a.size(); ++i) p[i] = static_cast<T>(std::fabs(static_cast<double>(p[i])));
      });
    }
    return out;
  }
  static bool rounds(std::string_view primitive) {
    for (const char* name : {"add", "sub", "mul", "div", "fma", "sqrt", "dot_general", "reduce_sum", "reduce_prod",
                             "cumsum", "cumprod", "scatter_add", "scatter_mul", "convert"}) {
      if (primitive == name) return true;
    }
    return false;
  }
  Rng rng_;
  bool finite_;
};

struct Tally {
  int64_t elements = 0, sharp = 0;  ///< sharp: tolerance below one percent
};

/// An error message if `got` is wrong, else empty.
std::string judge(const AnyArray& got, const AnyArray& want, const std::vector<std::vector<double>>& perturbed,
                  Tally& tally) {
  const std::vector<double> g = as_doubles(got), w = as_doubles(want);
  for (size_t i = 0; i < w.size(); ++i) {
    double deviation = 0;
    bool settled = true;
    for (const std::vector<double>& d : perturbed) {
      if (std::isfinite(w[i]) != std::isfinite(d[i])) settled = false;
      if (std::isfinite(w[i]) && std::isfinite(d[i])) deviation = std::max(deviation, std::fabs(d[i] - w[i]));
      if (!std::isfinite(w[i]) && !(d[i] == w[i] || (std::isnan(d[i]) && std::isnan(w[i])))) settled = false;
    }
    ++tally.elements;
    if (!settled) continue;
    if (!std::isfinite(w[i])) {
      if (g[i] == w[i] || (std::isnan(g[i]) && std::isnan(w[i]))) continue;
    } else {
      const double allowed = 8 * deviation + 2 * epsilon(want.dtype()) * std::fabs(w[i]);
      if (allowed <= 0.01 * std::fabs(w[i])) ++tally.sharp;
      if (g[i] == w[i] || std::fabs(g[i] - w[i]) <= allowed) continue;
      return "element " + std::to_string(i) + ": got " + std::to_string(g[i]) + ", want " + std::to_string(w[i]) +
             " within " + std::to_string(allowed);
    }
    return "element " + std::to_string(i) + ": got " + std::to_string(g[i]) + ", want " + std::to_string(w[i]);
  }
  return {};
}

class DefaultMode : public testing::TestWithParam<int> {};

TEST_P(DefaultMode, StaysWithinRoundingOnRandomGraphs) {
  RandomGraphOptions options;
  options.discontinuous = false;
  options.corners = false;
  constexpr uint64_t kBlock = 100;
  const uint64_t first = 100000 + static_cast<uint64_t>(GetParam()) * kBlock;
  Tally tally;
  for (uint64_t seed = first; seed < first + kBlock; ++seed) {
    const Graph g = random_graph(seed, options);
    const std::vector<AnyArray> inputs = random_inputs(g, seed, false);
    const std::vector<AnyArray> want = reference::evaluate(transform::inline_calls(g), inputs, kStrictReference);
    const std::vector<AnyArray> got = run_native(g, inputs);
    std::vector<std::vector<AnyArray>> runs;
    for (uint64_t k = 0; k < 5; ++k) runs.push_back(Perturbed(seed * 8 + k, k == 0).run(g, inputs));
    for (size_t o = 0; o < want.size(); ++o) {
      if (!is_floating(want[o].dtype())) {
        EXPECT_EQ(difference(got[o], want[o]), "") << "seed " << seed << "\n" << g;
        continue;
      }
      std::vector<std::vector<double>> perturbed;
      for (const std::vector<AnyArray>& run : runs) perturbed.push_back(as_doubles(run[o]));
      EXPECT_EQ(judge(got[o], want[o], perturbed, tally), "") << "output " << o << " of seed " << seed << "\n" << g;
    }
    if (HasFailure()) break;
  }
  RecordProperty("elements", static_cast<int>(tally.elements));
  RecordProperty("sharp", static_cast<int>(tally.sharp));
  // Most elements have a small tolerance: the test can fail.
  EXPECT_GT(tally.sharp, tally.elements / 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DefaultMode, testing::Range(0, kAddressSanitizer || kThreadSanitizer ? 2 : 10));

// Contraction is decided before machine code is made.
TEST(DefaultModeBits, AreThoseOfQuickCode) {
  const uint64_t seeds = kAddressSanitizer || kThreadSanitizer ? 30 : 300;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Graph g = random_graph(seed);
    const std::vector<AnyArray> inputs = random_inputs(g, seed);
    codegen::CodegenOptions quick;
    quick.quick = true;
    const std::vector<AnyArray> want = run_native(g, inputs), got = run_native(g, inputs, quick);
    for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(difference(got[i], want[i]), "") << "seed " << seed << "\n" << g;
  }
}

bool has_functions(const Graph& g) {
  return std::any_of(g.equations().begin(), g.equations().end(), [&](const Equation& e) {
    return primitives::lower_kind(g, e) == primitives::LowerKind::function;
  });
}

TEST(DefaultModeMath, HasTheBitsOfStrictMode) {
  const int kStride = kAddressSanitizer || kThreadSanitizer ? 7 : 1;
  int count = 0;
  CaseSample sample(kStride);
  for_each_op_case(1, [&](const OpRow& row, const OpRequest&, const OpCase& c) {
    if (HasFailure()) return;
    const Graph g = graph_of(row, c);
    if (c.operands.empty() || !has_functions(g)) return;
    if (!sample.takes(row)) return;
    codegen::CodegenOptions strict;
    strict.strict = true;
    const std::vector<AnyArray> want = run_native(g, c.operands, strict), got = run_native(g, c.operands);
    for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(difference(got[i], want[i]), "") << g;
    ++count;
  });
  EXPECT_GT(count, 200 / kStride);
}

}  // namespace
}  // namespace calque::test
