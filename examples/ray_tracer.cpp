// A ray tracer with early exits: a ball above a chequered floor, its shadow and what it mirrors. A pixel's color is an
// ordinary template, which runs on double; jitted with branches::trace its paths are compiled as pixels take them.
// Writes ray_tracer.ppm.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <calque/calque.h>

namespace cq = calque;

namespace {

constexpr int kWidth = 240, kHeight = 160;

template <class T>
struct Vec {
  T x, y, z;
  friend Vec operator+(const Vec& a, const Vec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vec operator-(const Vec& a, const Vec& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vec operator*(const T& s, const Vec& a) { return {s * a.x, s * a.y, s * a.z}; }
};
template <class T>
T dot(const Vec<T>& a, const Vec<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
Vec<T> normalized(const Vec<T>& a) {
  using std::sqrt;
  return T(1.0 / sqrt(dot(a, a))) * a;
}

template <class T>
struct Scene {
  Vec<T> center{0.0, 1.0, 0.0}, light = normalized(Vec<T>{0.5, 0.8, -0.4});

  /// Where a ray from `from` hits the ball of radius 1; negative if it does not.
  T ball(const Vec<T>& from, const Vec<T>& d) const {
    using std::sqrt;
    const Vec<T> to = from - center;
    const T b = dot(to, d), square = b * b - dot(to, to) + 1.0;
    if (square < 0.0) return -1.0;
    return -b - sqrt(square);
  }
  T sky(const Vec<T>& d) const { return 0.6 + 0.3 * d.y; }
  T floor(const Vec<T>& from, const Vec<T>& d) const {
    using std::sin;
    if (d.y > -0.02) return sky(d);
    const Vec<T> p = from + T(-from.y / d.y) * d;
    T tile = 0.25;
    if (sin(3.0 * p.x) * sin(3.0 * p.z) > 0.0) tile = 0.9;
    if (ball(p, light) > 0.0) return 0.3 * tile;
    return tile;
  }
  T brightness(const T& x, const T& y) const {
    const Vec<T> eye{0.0, 1.6, -4.5}, d = normalized(Vec<T>{x, y - 0.12, 1.2});
    const T t = ball(eye, d);
    if (t < 0.0) return floor(eye, d);
    const Vec<T> p = eye + t * d, normal = p - center;
    const T mirrored = 0.5 * floor(p, d - T(2.0 * dot(d, normal)) * normal), lit = dot(normal, light);
    if (lit < 0.0) return 0.7 * mirrored;
    return 0.7 * mirrored + 0.6 * lit;
  }
};

}  // namespace

int main() {
  const auto jitted =
      cq::jit([](auto x, auto y) { return Scene<decltype(x)>().brightness(x, y); }, {.branches = cq::branches::trace});
  const Scene<double> scene;
  std::string bytes;
  int different = 0;
  for (int row = 0; row < kHeight; ++row) {
    for (int column = 0; column < kWidth; ++column) {
      const double x = (column + 0.5 - 0.5 * kWidth) / kHeight, y = (0.5 * kHeight - row - 0.5) / kHeight;
      const double shade = jitted(x, y).item();
      different += std::abs(shade - scene.brightness(x, y)) > 1e-9 ? 1 : 0;
      bytes.push_back(static_cast<char>(std::lround(255 * std::clamp(shade, 0.0, 1.0))));
    }
  }
  std::ofstream("ray_tracer.ppm", std::ios::binary) << "P5\n" << kWidth << ' ' << kHeight << "\n255\n" << bytes;
  const cq::BranchInfo info = jitted.branch_info(0.0, 0.0);
  std::cout << kWidth * kHeight << " rays: " << info.traces << " paths, " << info.compilations << " compilations, "
            << info.replays << " replays, " << info.open_exits << " open exits; " << different
            << " pixels differ from those of double\n";
  // At an edge one rounding decides.
  return different < kWidth * kHeight / 1000 && info.traces < 20 ? EXIT_SUCCESS : EXIT_FAILURE;
}
