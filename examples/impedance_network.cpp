// The impedance of a loudspeaker in its box, fitted to a measurement: a voice coil (resistance, inductance with losses)
// in series with the mechanics as seen from the electric side, a parallel circuit (Small, "Vented-box loudspeaker
// systems", 1973). Impedances are complex functions of real component values; the residuals' Jacobian goes through
// their arithmetic, and Gauss-Newton steps with damping fit six logarithms. Writes impedance_network.svg.
#include <cmath>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <numbers>

#include <calque/calque.h>

#include "pictures/plot.h"

namespace cq = calque;

using Array = cq::Array<double>;
using Complex = std::complex<double>;

const Complex kI(0, 1);

/// p: logarithms of Re (ohm), Le (henry), the resistance beside it, and of Res, Lces, Cmes of the parallel circuit.
const auto impedance = [](const auto& p, const auto& frequency) {
  auto v = exp(p);
  auto s = kI * (2 * std::numbers::pi * frequency);
  auto in_parallel = [](auto... z) { return 1.0 / ((1.0 / z) + ...); };
  auto coil = v[0] + in_parallel(s * v[1], v[2] + 0.0 * s);
  auto mechanics = in_parallel(v[3] + 0.0 * s, s * v[4], 1.0 / (s * v[5]));
  return coil + mechanics;
};

/// Real and imaginary parts relative to the measured modulus, so that all frequencies count alike.
const auto residuals = [](const auto& p, const auto& frequency, const auto& measured) {
  auto relative = (impedance(p, frequency) - measured) / abs(measured);
  return cq::concatenate({real(relative), imag(relative)}, 0);
};

const auto fit = [](const auto& start, const auto& frequency, const auto& measured) {
  auto step = [=](auto, auto p) {
    auto r = residuals(p, frequency, measured);
    auto j = cq::jacfwd(residuals)(p, frequency, measured);
    auto jt = cq::transpose(j);
    auto normal = matmul(jt, j);
    auto damped = normal + 1e-3 * cq::diag(diagonal(normal)) + 1e-9 * cq::eye<double>(6);
    return p - cq::linalg::solve(damped, matmul(jt, r));
  };
  return cq::fori_loop(0, 40, step, start);
};

int main() {
  const Array truth = log(Array{5.6, 0.9e-3, 12.0, 38.0, 0.045, 0.42e-3});
  const Array frequency = exp(Array::linspace(std::log(10.0), std::log(20000.0), 160));
  const auto [of_re, of_im] = cq::random::split(cq::random::key(1973));
  const auto noise = cq::as_complex(cq::random::normal<double>(of_re, {160}), cq::random::normal<double>(of_im, {160}));
  const auto exact = impedance(truth, frequency);
  const auto measured = exact * (1.0 + 0.01 * noise);

  const Array start = truth + Array{0.5, -0.6, 0.4, -0.5, 0.6, -0.5};
  const Array p = cq::jit(fit)(start, frequency, measured);
  const auto error = cq::jit([](auto q, auto f, auto z) { return sqrt(mean(square(residuals(q, f, z)))); });
  const char* names[] = {"Re", "Le", "R beside Le", "Res", "Lces", "Cmes"};
  for (int i = 0; i < 6; ++i)
    std::cout << names[i] << ' ' << std::exp(p(i)) << ", was " << std::exp(start(i)) << ", true " << std::exp(truth(i))
              << '\n';
  const double before = error(start, frequency, measured).item(), after = error(p, frequency, measured).item();
  std::cout << "residual " << before << " at the start, " << after << " at the end, noise 0.01\n";

  // The same impedance in std::complex numbers.
  double worst = 0;
  for (int i = 0; i < 160; ++i) {
    const Complex s = kI * 2.0 * std::numbers::pi * frequency(i);
    const auto v = [&](int k) { return Complex(std::exp(truth(k))); };
    const Complex coil = v(0) + 1.0 / (1.0 / (s * v(1)) + 1.0 / v(2));
    const Complex z = coil + 1.0 / (1.0 / v(3) + 1.0 / (s * v(4)) + s * v(5));
    worst = std::max(worst, std::abs(z - exact(i)) / std::abs(z));
  }

  const auto numbers = [](const Array& v) { return pictures::Numbers(v.host().begin(), v.host().end()); };
  pictures::Plot plot("Impedance of a loudspeaker", "log10 of the frequency in Hz", "ohm");
  const Array x = log10(frequency);
  plot.points(numbers(x), numbers(abs(measured)), "#808080");
  plot.curve(numbers(x), numbers(abs(impedance(start, frequency))), "#d6944c");
  plot.curve(numbers(x), numbers(abs(impedance(p, frequency))), "#4c8dd6", 2);
  plot.write("impedance_network.svg");
  const double off = amax(abs(p - truth)).item();
  return worst < 1e-12 && after < 0.011 && off < 0.05 ? EXIT_SUCCESS : EXIT_FAILURE;
}
