// Samples of the gamma distribution and of those made of it: JAX's, and the same everywhere.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/trace_eval.h"

namespace calque::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::vector<double> numbers(const Array<T>& x) {
  return to<std::vector<double>>(cast<double>(x.reshape({x.shape().num_elements()})));
}

/// Values of JAX 0.10.2 under key(2026), of shape {4, 5} and parameters a, printed so that they round to the type.
struct Expected {
  std::string name;
  std::vector<double> values;
};
template <class T>
const std::vector<Expected> kExpected{};
// clang-format off
template <>
const std::vector<Expected> kExpected<float> = {
    {"gamma", {0, 0.39113525, 0.28461018, 4.2930756, 101.3707, 4.3524742e-10, 0.062404644, 1.6217378, 5.5853853, 103.88151, 0, 0.1905732, 0.23235732, 1.6582516, 108.995514, 1.3053707e-10, 0.2080528, 0.5446815, 1.6802096, 84.69446}},
    {"loggamma", {-177.32742, -0.93870175, -1.2566347, 1.4570034, 4.6187844, -21.555105, -2.7741156, 0.4834983, 1.7201535, 4.643251, -112.8545, -1.6577191, -1.4594789, 0.50576377, 4.691307, -22.759365, -1.5699635, -0.607554, 0.5189185, 4.43905}},
    {"beta", {0, 0.006257971, 0.016407842, 0.8557024, 0.97801614, 0.003331966, 3.4346893e-08, 0.1062531, 0.6741988, 0.94292325, 1.9045953e-27, 0.009319504, 0.04131774, 0.35908556, 0.9691602, 5.9029586e-26, 0.39876345, 0.35645598, 0.58614266, 0.9391475}},
    {"dirichlet", {0, 0.0036781735, 0.0026764285, 0.040371392, 0.953274, 3.9158225e-12, 5.6144e-04, 0.014590394, 0.050250404, 0.93459773, 0, 0.0017156892, 0.0020918632, 0.014928886, 0.9812635, 1.4982296e-12, 0.0023879146, 0.0062515526, 0.019284513, 0.97207606}},
    {"chisquare", {0, 0.112273954, 0.46447596, 4.9618673, 101.74487, 9.953639e-20, 0.0042351447, 4.453207, 7.103218, 105.3184, 0, 0.055368103, 0.23427333, 1.2026105, 112.66939, 1.7464707e-20, 0.26778772, 1.2519262, 1.2284544, 78.664536}},
    {"t", {2.7034399e+16, -0.6861126, -1.8534116, -6.2210574, -0.05781042, kInfinity, 3.331702, -0.12506504, -1.0006711, -0.089981236, -3.205374e+17, -1.8125948, -0.011258877, 0.7105461, -0.7479897, -5.133562e+12, -0.12740156, -0.88094753, 0.12932312, 0.20785807}},
};
template <>
const std::vector<Expected> kExpected<double> = {
    {"gamma", {6.12771782488447e-36, 0.004001871452777752, 1.1810425542084697, 3.0349159855401195, 102.7986816443283, 2.525718662964936e-25, 0.00018058185504993819, 2.597114448965392, 1.1419291596182848, 108.7756910138776, 3.421458818813778e-35, 0.023828347876729553, 1.3186009850725973, 1.5528065865910585, 98.67710994661185, 1.3629947633872415e-122, 7.988535796223251e-08, 0.07773434506097816, 1.5672641006566908, 103.60183282105086}},
    {"loggamma", {-81.0802409632606, -5.520993164081668, 0.16639756891871715, 1.1101837422634417, 4.632772528467316, -56.638101683623276, -8.619326392405743, 0.9544010013920482, 0.13271907745186895, 4.689287881276776, -79.36041123945719, -3.7368793198288333, 0.2765713147562381, 0.4400639946147354, 4.591853004108363, -280.6056970345421, -16.342673255507616, -2.5544580978943956, 0.44933148820065927, 4.640555020991778}},
    {"beta", {9.49269552908495e-27, 0.0020112874448647, 0.07689808140816112, 0.4274637231285279, 0.9828472718761723, 6.56977020788997e-42, 0.48254038993056475, 0.07512972484484452, 0.6474143629369271, 0.9428531114704853, 1.994596011568191e-28, 0.00026905564153370916, 0.2739789515894275, 0.35729548129406324, 0.9618280719243715, 1.446308617584548e-266, 0.00032425654496733746, 0.1355612179706583, 0.5731844437300444, 0.9630930853991523}},
    {"dirichlet", {5.725841504982829e-38, 3.7394152793503633e-05, 0.011035858160073195, 0.028358759999639754, 0.9605679876874935, 2.2447856432016776e-27, 1.6049592600413762e-06, 0.02308240151316187, 0.01014913585051946, 0.9667668576770587, 3.3684944358008957e-37, 0.00023459483655255487, 0.012981889645535944, 0.015287690496360909, 0.9714958250215506, 1.2950458896933412e-124, 7.590286276563719e-10, 0.0007385908351477374, 0.014891318632620464, 0.9843700897732032}},
    {"chisquare", {3.2139914769742092e-71, 8.528868368335477e-06, 0.20174020150276034, 3.0335106805382903, 103.77431680593595, 1.1386334799536325e-47, 3.798948625857303e-08, 5.443109337439308, 0.640896760551952, 112.3514307515137, 5.898174387525914e-69, 0.0018470156321501291, 0.0012460648802758306, 1.0805031290247362, 97.93816481981617, 4.510676087446902e-244, 3.900717042831764e-14, 0.10219442886503742, 1.0970443010591822, 104.91917669117188}},
    {"t", {-3.825842636932305e+77, -429.4713136936537, -8.69853010252099, 0.23684477264218304, 0.5840446231186346, -3.3349478482718183e+36, 7.031028492196234, -0.42204223033524435, -4.887875049109442, 0.8769214907714113, 2.2156246488334912e+45, -0.4341751539554137, 1.2036193257548373, 1.7524037738061946, 2.36165518574885, -7.388487404789717e+124, -0.284167970936711, 10.054986606058323, -1.2750301762292398, 0.01757074360409965}},
};
// clang-format on

/// The parameters of kExpected; b of beta is 2.5.
template <class T>
Array<T> parameters() {
  return {T(0.01), T(0.3), T(1), T(2.5), T(100)};
}

/// One draw of each distribution, by name, of the shape {4, 5}.
template <class T, class K, class A>
auto draw(const std::string& name, const K& key, const A& a) {
  if (name == "gamma") return random::gamma<T>(key, a, {4, 5});
  if (name == "loggamma") return random::loggamma<T>(key, a, {4, 5});
  if (name == "beta") return random::beta<T>(key, a, T(2.5), {4, 5});
  if (name == "dirichlet") return random::dirichlet<T>(key, a, {4});
  if (name == "chisquare") return random::chisquare<T>(key, a, {4, 5});
  return random::t<T>(key, a, {4, 5});
}

/// Equal up to the rounding of functions. Logarithms of up to 180 have errors of that many eps when they become
/// samples; JAX's log1p of f64 has errors of up to 70 eps, which log-samples divide by a = 0.01.
template <class T>
void expect_samples(const std::string& name, const Array<T>& got, const std::vector<double>& want) {
  const std::vector<double> x = numbers(got);
  ASSERT_EQ(x.size(), want.size());
  const double relative = sizeof(T) == 4 ? 200 * 0x1p-23 : 2e4 * 0x1p-52;
  // The smallest numbers are denormal, which JAX flushes to zero.
  const double tiny = static_cast<double>(std::numeric_limits<T>::min());
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isinf(want[i])) {
      EXPECT_EQ(x[i], want[i]) << name << " " << i;
    } else {
      EXPECT_NEAR(x[i], want[i], relative * std::abs(want[i]) + tiny) << name << " " << i;
    }
  }
}

template <class T>
class GammaSamples : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(GammaSamples, Floats);

TYPED_TEST(GammaSamples, AreThoseOfJax) {
  using T = TypeParam;
  for (const Expected& e : kExpected<T>) {
    expect_samples(e.name, draw<T>(e.name, random::key(2026), parameters<T>()), e.values);
  }
}

TYPED_TEST(GammaSamples, AreTheSameOnEveryDevice) {
  using T = TypeParam;
  for (const Expected& e : kExpected<T>) {
    const auto f = [&e](auto key, auto a) { return draw<T>(e.name, key, a); };
    const random::Key key = random::key(2026);
    expect_samples(e.name, jit(f, {.device = gpu_sim()})(key, parameters<T>()), e.values);
    expect_samples(e.name, jit(f, {.strict = true})(key, parameters<T>()), e.values);
    const std::vector<AnyArray> inputs = {key.data.any(), parameters<T>().any()};
    const AnyArray reference = results_of(inputs, [&](std::span<const Handle> in) {
      const random::BasicKey<Tracer<uint32_t>> traced{Tracer<uint32_t>(in[0])};
      return Handles{f(traced, Tracer<T>(in[1])).handle()};
    })[0];
    expect_samples(e.name, Array<T>(reference), e.values);
  }
}

TYPED_TEST(GammaSamples, OfBatchesAreThoseOfALoop) {
  using T = TypeParam;
  const Array<uint32_t> keys = stack({random::key(3).data, random::key(2026).data, random::key(5).data}, 0);
  const Array<T> scaled = stack({parameters<T>(), parameters<T>() * T(2), parameters<T>() / T(3)}, 0);
  for (const Expected& e : kExpected<T>) {
    const auto f = [&e](auto key, auto a) { return draw<T>(e.name, key, a); };
    const auto same = [&](const Array<T>& batch, int64_t i, const random::Key& key, const Array<T>& a) {
      expect_samples(e.name, Array<T>(batch[i]), numbers(f(key, a)));
    };
    const auto by_key = vmap(f, {.in_axes = {0, none}})(random::Key{keys}, parameters<T>());
    const auto by_parameter = vmap(f, {.in_axes = {none, 0}})(random::key(7), scaled);
    const auto by_both = vmap(f)(random::Key{keys}, scaled);
    for (int64_t i = 0; i < 3; ++i) {
      const random::Key key{Array<uint32_t>(keys[i])};
      same(by_key, i, key, parameters<T>());
      same(by_parameter, i, random::key(7), Array<T>(scaled[i]));
      same(by_both, i, key, Array<T>(scaled[i]));
    }
  }
}

}  // namespace
}  // namespace calque::test
