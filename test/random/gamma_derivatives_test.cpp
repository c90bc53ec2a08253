// Derivatives of samples of the gamma distribution, and of those made of it, by their parameters.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "frontend/random/gamma.h"
#include "jit/messages.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<double> numbers(const Array<T>& x) {
  return to<std::vector<double>>(cast<double>(x));
}

/// A sample with logarithm log_x of parameter a, and the derivatives of first and second order of log_x by a along a
/// constant quantile. Computed with 90 digits by mpmath: -(dP/da) / (x p) with P and p the regularized incomplete gamma
/// function and the density, and differences of that along the quantile. Each a has quantiles from 1e-9 to 1 - 1e-9.
struct Quantile {
  double a, log_x, first, second;
};
// clang-format off
constexpr Quantile kQuantiles[] = {
    {0.001, -20723.842230544695, 20723266.658612884, -41446531674.692571},
    {0.001, -4605.7465795863745, 4605171.0076545641, -9210340372.7759322},
    {0.001, -693.7235741582286, 693148.00222641833, -1386294361.9196408},
    {0.001, -223.7199449124937, 223144.3729806834, -446287103.42817092},
    {0.001, -10.62670521673839, 10051.401090460867, -20098711.645310773},
    {0.001, 2.426011872171682, 81.939978326121255, -87913.281465663645},
    {0.01, -2072.895614489248, 207233.47290313794, -41446532.459274756},
    {0.01, -461.0860493934162, 46052.516393554752, -9210341.1573581189},
    {0.01, -69.88374885060145, 6932.2863392732774, -1386295.1465018241},
    {0.01, -22.883385925913778, 2232.2500470706693, -446287.88749291088},
    {0.01, -1.3278271698191655, 131.45468623501049, -21661.152653600838},
    {0.01, 2.601341730813164, 7.1631624233168671, -741.28039402668816},
    {0.3, -69.4381354881809, 230.89648199771369, -1535.5290352014359},
    {0.3, -15.711149869430919, 51.80653621804461, -341.59576242433501},
    {0.3, -2.615501067658653, 8.7796279222803266, -51.146740476948172},
    {0.3, -0.7763681785109974, 4.1536875521346646, -19.778195457521668},
    {0.3, 0.970555087970391, 1.4804975209748805, -4.9371383007506639},
    {0.3, 2.8669588265953148, 0.35189633707026144, -0.7537041701041817},
    {0.7, -29.7415336205049, 42.785830707686532, -121.11204083588605},
    {0.7, -6.714969477123311, 9.8983972409792429, -27.086247301410932},
    {0.7, -0.8979014841136194, 2.2821880240358982, -4.67736938026716},
    {0.7, 0.14032208421888634, 1.3819713389029095, -2.3356369889232623},
    {0.7, 1.3547362710229673, 0.67339525542296096, -0.83720820550028779},
    {0.7, 2.973276345207744, 0.21375820015661811, -0.16721779478828917},
    {1, -20.723265836446412, 21.146050182367904, -41.647166084810421},
    {1, -4.600149226776581, 5.0507860788199723, -9.3528965809548322},
    {1, -0.366512920581664, 1.3965934762369348, -1.8471519306056493},
    {1, 0.4758849953271107, 0.91878853011247273, -1.0191440765183767},
    {1, 1.527179625807901, 0.4966960065084337, -0.41666808848540504},
    {1, 3.031257023948918, 0.17635233776094648, -0.094114016069352201},
    {1.5, -13.625721494051207, 9.5525901717015446, -12.409841236368042},
    {1.5, -2.8574339939924274, 2.4354483392728288, -2.8251598981068931},
    {1.5, 0.16804254705508578, 0.83449237468822126, -0.68008248361315013},
    {1.5, 0.8419179164252251, 0.59369569789343156, -0.41509606937094489},
    {1.5, 1.7356181905904675, 0.35499416286190956, -0.1942431584490943},
    {1.5, 3.109981860334103, 0.14206465603988215, -0.050732512169357323},
    {2.5, -7.80880085396942, 3.5652099614724635, -2.7187784633029965},
    {2.5, -1.2831998728530352, 1.0451408082844415, -0.65693999096768742},
    {2.5, 0.7773642843279395, 0.45774031384269026, -0.20786623870235601},
    {2.5, 1.2932570637743999, 0.35201842596521129, -0.14115291714012172},
    {2.5, 2.0206380417841596, 0.23372408190484782, -0.076554792006911167},
    {2.5, 3.232624748981913, 0.10749637181481377, -0.024048642265456093},
    {10, -0.507273873921183, 0.30292499134029104, -0.048504313449121775},
    {10, 1.4183256300894134, 0.15310317538328783, -0.019022368243664534},
    {10, 2.268895375574469, 0.10340442775212666, -0.010687936758085774},
    {10, 2.527227745679591, 0.090687655255691739, -0.0087820100355417874},
    {10, 2.9329584553884613, 0.072966146445094834, -0.0063270982055107638},
    {10, 3.731449413252503, 0.045731606012334161, -0.0031153729236174538},
    {100, 3.9346315401060146, 0.013747151231620306, -0.00016059263118558542},
    {100, 4.359474013544298, 0.011297512223862794, -0.00012019213638856321},
    {100, 4.6018332738776095, 0.010033404893982858, -0.00010066881303544565},
    {100, 4.684945703683541, 0.0096224491544625962, -9.4544234380177556e-5},
    {100, 4.826091762469352, 0.0089509165911939566, -8.4790097668013364e-5},
    {100, 5.147907414043151, 0.0075430313279675763, -6.5453208015890729e-5},
    {10000.0, 9.149722518852963, 0.00010306322931348922, -1.0462753125254601e-8},
    {10000.0, 9.18695268541078, 0.00010117562870403402, -1.0176972158892028e-8},
    {10000.0, 9.210307038284826, 0.00010000333340493783, -1.0000666688147974e-8},
    {10000.0, 9.218711578358667, 9.9583683369179001e-5, -9.9377762164192225e-9},
    {10000.0, 9.233480988566305, 9.8849078976252628e-5, -9.8279695137171485e-9},
    {10000.0, 9.269692312737678, 9.7063374201852348e-5, -9.5625700332019226e-9},
};
// clang-format on

/// Given samples, with the derivatives that drawn ones have.
template <class T>
Tracer<T> attached(const Tracer<T>& a, const Tracer<T>& samples, detail::ops::random::GammaScale scale) {
  namespace ops = detail::ops;
  const ops::Site site{"random::gamma", Location()};
  return Tracer<T>(ops::random::with_gamma_derivative(a.handle(), samples.handle(), scale, site));
}

constexpr auto kLinear = detail::ops::random::GammaScale::linear;
constexpr auto kLogarithmic = detail::ops::random::GammaScale::logarithmic;

struct Table {
  std::vector<double> a, log_x;
};
Table table() {
  Table t;
  for (const Quantile& q : kQuantiles) t.a.push_back(q.a), t.log_x.push_back(q.log_x);
  return t;
}
constexpr int64_t kRows = std::size(kQuantiles);

TEST(GammaDerivatives, OfFirstAndSecondOrderKeepTheQuantile) {
  const Table t = table();
  const auto a = Array<double>::from(t.a, {kRows}), log_x = Array<double>::from(t.log_x, {kRows});
  const auto total = [](auto a, auto x) { return sum(attached(a, x, kLogarithmic)); };
  const auto second_of = [total](auto a, auto x) { return sum(grad(total)(a, x)); };
  for (const Device device : {cpu(), gpu_sim()}) {
    const std::vector<double> first = numbers(jit(grad(total), {.device = device})(a, log_x));
    const std::vector<double> second = numbers(jit(grad(second_of), {.device = device})(a, log_x));
    for (size_t i = 0; i < first.size(); ++i) {
      const Quantile& q = kQuantiles[i];
      EXPECT_NEAR(first[i] / q.first, 1, 1e-11) << q.a << " " << q.log_x;
      EXPECT_NEAR(second[i] / q.second, 1, 1e-9) << q.a << " " << q.log_x;
    }
  }
  // Forward over reverse, and the primal value beside the tangent, too.
  const auto along = [total](auto a, auto x) {
    return jvp([x, total](auto b) { return grad([x, total](auto c) { return total(c, x); })(b); }, std::tuple{a},
               std::tuple{1.0 + 0.0 * a})
        .second;
  };
  const std::vector<double> forward = numbers(jit(along)(a, log_x));
  for (size_t i = 0; i < forward.size(); ++i) EXPECT_NEAR(forward[i] / kQuantiles[i].second, 1, 1e-9);
}

TEST(GammaDerivatives, OfSamplesThemselvesFollow) {
  const Table t = table();
  const auto a = Array<double>::from(t.a, {kRows}), x = exp(Array<double>::from(t.log_x, {kRows}));
  const auto total = [](auto a, auto x) { return sum(attached(a, x, kLinear)); };
  const std::vector<double> first = numbers(grad(total)(a, x));
  const std::vector<double> second = numbers(grad([total](auto a, auto x) { return sum(grad(total)(a, x)); })(a, x));
  for (size_t i = 0; i < first.size(); ++i) {
    const Quantile& q = kQuantiles[i];
    const double value = std::exp(q.log_x), slope = value * q.first, curve = value * (q.second + q.first * q.first);
    EXPECT_NEAR(first[i], slope, 1e-11 * slope) << q.a << " " << q.log_x;
    // The logarithm of a rounded sample differs from log_x, and the two terms of the curvature cancel for large a.
    EXPECT_NEAR(second[i], curve, 1e-9 * value * (std::abs(q.second) + q.first * q.first)) << q.a << " " << q.log_x;
  }
}

TEST(GammaDerivatives, OfLargeParametersFollowTheNormalDistribution) {
  // The quantile is a + z sqrt(a) + (z^2 - 1) / 3 + O(1 / sqrt(a)).
  const auto f = [](auto a, auto x) { return attached(a, x, kLinear); };
  const auto second = [f](auto a, auto x) { return grad([f, x](auto b) { return grad(f)(b, x); })(a); };
  for (const double a : {1e10, 1e16, 1e24, 1e30, 1e100, 1e200}) {
    for (const double z : {-6.0, -1.5, 0.0, 0.5, 6.0}) {
      const Array<double> at(a), x(a + z * std::sqrt(a));
      // What rounding to x leaves of z.
      const double rounded = (x.item() - a) / std::sqrt(a), slope = 1 + rounded / (2 * std::sqrt(a));
      EXPECT_NEAR(grad(f)(at, x).item(), slope, 1e-14 + 10 / a) << a << " " << z;
      if (z == 0 || a > 1e20) continue;  // the derivatives of first order cancel in that of second
      EXPECT_NEAR(second(at, x).item() / (-rounded / (4 * a * std::sqrt(a))), 1, 1e-3) << a << " " << z;
    }
  }
}

TEST(GammaDerivatives, OfSinglePrecisionAreThatPrecise) {
  std::vector<float> a, log_x;
  for (const Quantile& q : kQuantiles) a.push_back(float(q.a)), log_x.push_back(float(q.log_x));
  const auto total = [](auto a, auto x) { return sum(attached(a, x, kLogarithmic)); };
  const auto rounded_a = Array<float>::from(a, {kRows}), rounded_x = Array<float>::from(log_x, {kRows});
  const std::vector<double> got = numbers(grad(total)(rounded_a, rounded_x));
  // In double precision, of the same rounded numbers.
  const std::vector<double> want = numbers(grad(total)(cast<double>(rounded_a), cast<double>(rounded_x)));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i] / want[i], 1, 1e-6) << kQuantiles[i].a;
}

TEST(GammaDerivatives, OfSamplesTooSmallForTheTypeAreZero) {
  const random::Key key = random::key(5);
  const auto total = [&](auto a) { return sum(random::gamma<float>(key, a, {40})); };
  const auto x = random::gamma<float>(key, 0.001f, {40});
  EXPECT_GT(sum(cast<int32_t>(x == 0.0f)).item(), 20);
  EXPECT_TRUE(std::isfinite(grad(total)(0.001f).item()));
  EXPECT_TRUE(std::isfinite(grad(grad(total))(0.001f).item()));
}

TEST(GammaDerivatives, BeyondSecondOrderAreRefused) {
  const auto f = [](auto a) { return random::gamma<double>(random::key(1), a, {}); };
  const auto third = [f](auto a) { return grad(grad(grad(f)))(a); };
  EXPECT_THAT(message_of<GradError>([&] { third(Array<double>(2.0)); }),
              HasSubstr("random::gamma: samples have derivatives of order one and two (gamma_derivatives_test.cpp:"));
  const auto g = [](auto a) { return random::loggamma<double>(random::key(1), a, {}); };
  EXPECT_THAT(message_of<GradError>([&] { grad(grad(grad(g)))(Array<double>(2.0)); }), HasSubstr("random::loggamma: "));
  // The value that forward mode returns beside the tangent counts as well: no derivative is silently zero.
  const auto value = [](auto h) { return [h](auto a) { return jvp(h, std::tuple{a}, std::tuple{a}).first; }; };
  const double once = grad(f)(2.0).item();
  EXPECT_DOUBLE_EQ(grad(value(f))(2.0).item(), once);
  EXPECT_THROW(grad(value(value(f)))(2.0), GradError);
}

}  // namespace
}  // namespace calque::test
