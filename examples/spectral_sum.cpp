// The diffraction pattern of a small crystal: the structure factor S(q) = sum_k exp(i q . r_k) over its atoms, at each
// wave vector q of a picture, and its gradient by the positions. The sum of exponentials of imaginary numbers is one
// kernel; no array of all terms is made. Checked against a loop of std::complex and a difference; writes
// spectral_sum.ppm.
#include <cmath>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numbers>
#include <string>

#include <calque/calque.h>

namespace cq = calque;

using Array = cq::Array<double>;
using Complex = std::complex<double>;

constexpr int64_t kAtoms = 91, kSide = 200;

/// The atoms of a hexagon of the triangular lattice, each moved a little by heat.
Array atoms() {
  std::vector<double> numbers;
  for (int a = -5; a <= 5; ++a)
    for (int b = std::max(-5, -5 - a); b <= std::min(5, 5 - a); ++b) {
      numbers.push_back(a + 0.5 * b);
      numbers.push_back(0.5 * std::numbers::sqrt3 * b);
    }
  const Array lattice = Array::from(std::span<const double>(numbers), cq::Shape{kAtoms, 2});
  return lattice + 0.04 * cq::random::normal<double>(cq::random::key(1912), {kAtoms, 2});
}

/// The structure factor at wave vectors [..., 2].
const auto structure_factor = [](const auto& q, const auto& r) {
  auto phase = matmul(q, cq::transpose(r));
  return sum(exp(Complex(0, 1) * phase), -1);
};

/// Scattered intensity at all wave vectors.
const auto intensity = [](const auto& q, const auto& r) {
  return square(abs(structure_factor(q, r))) / double(kAtoms);
};

int main() {
  const Array r = atoms();
  const Array line = Array::linspace(-20.0, 20.0, kSide);
  const Array q = cq::stack(
      {cq::broadcast_to(line, {kSide, kSide}), cq::broadcast_to(line.at(cq::all, cq::newaxis), {kSide, kSide})}, -1);
  const auto pattern = cq::jit(intensity);
  const Array picture = pattern(q, r);

  double worst = 0;
  for (int64_t row = 0; row < kSide; row += 37)
    for (int64_t column = 0; column < kSide; column += 23) {
      Complex s = 0;
      for (int64_t k = 0; k < kAtoms; ++k) s += std::exp(Complex(0, line(column) * r(k, 0) + line(row) * r(k, 1)));
      worst = std::max(worst, std::abs(std::norm(s) / double(kAtoms) - picture(row, column)));
    }

  // The force on the atoms that a wish for a bright spot at one wave vector makes, against a difference.
  const Array at = Array{7.0, 1.5};
  const auto spot = cq::jit(cq::grad([](auto moved, auto where) { return intensity(where, moved); }));
  const Array force = spot(r, at);
  const auto moved = [&](double by) {
    const Array shift = Array::zeros({kAtoms, 2}).set(17, 0, by);
    return pattern(at, r + shift).item();
  };
  const double difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
  std::cout << "brightest " << amax(picture).item() << " of " << kAtoms << ", error " << worst << "; force "
            << force(17, 0) << ", by a difference " << difference << '\n';

  std::string bytes;
  for (const double value : picture.host()) {
    const double level = std::min(1.0, std::log1p(value) / std::log1p(double(kAtoms)));
    for (const double tint : {level * level, level, std::sqrt(level)})
      bytes.push_back(static_cast<char>(std::lround(255 * tint)));
  }
  std::ofstream("spectral_sum.ppm", std::ios::binary) << "P6\n" << kSide << ' ' << kSide << "\n255\n" << bytes;
  return worst < 1e-9 && std::abs(force(17, 0) - difference) < 1e-6 * (1 + std::abs(difference)) ? EXIT_SUCCESS
                                                                                                 : EXIT_FAILURE;
}
