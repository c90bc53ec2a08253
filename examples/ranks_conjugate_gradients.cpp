// Poisson's equation -(d2u/dx2 + d2u/dy2) = f on a square by conjugate gradients, in one compiled loop that runs until
// the residual is small: each rank has a part of the rows, neighbours exchange the rows at their borders, and products
// of vectors are summed over the ranks. Parts may differ by a row. Compared with the solution of the equation, which is
// known for this f; draws the residuals to ranks_conjugate_gradients.svg.
//   mpirun -np 4 ranks_conjugate_gradients
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>

#include <calque/mpi.h>

#include "pictures/plot.h"

namespace cq = calque;
using D = cq::Array<double>;

constexpr int64_t kSide = 127;  // points inside of the square, where u = 0 at the border
constexpr double kSpacing = 1.0 / (kSide + 1);
constexpr int32_t kMost = 500;
constexpr double kTolerance = 1e-10;

/// The rows [first, end) of a rank.
struct Rows {
  int64_t first, end;
};
Rows rows_of(int rank, int size) { return {kSide * rank / size, kSide * (rank + 1) / size}; }

/// u = x (1 - x) exp(x) y (1 - y) at these rows of points, and its f.
std::pair<D, D> problem(Rows rows) {
  const D x = (D::arange(kSide) + 1.0) * kSpacing;
  const D y = ((D::arange(rows.end - rows.first) + double(rows.first + 1)) * kSpacing).at(cq::all, cq::newaxis);
  return {x * (1.0 - x) * exp(x) * y * (1.0 - y), exp(x) * ((3.0 * x + x * x) * y * (1.0 - y) + 2.0 * x * (1.0 - x))};
}

int main(int argc, char** argv) {
  cq::mpi::Session session(argc, argv);
  const auto world = cq::mpi::world();
  const int rank = world.rank(), size = world.size();
  if (size > kSide) throw std::invalid_argument(std::to_string(size) + " ranks for " + std::to_string(kSide) + " rows");
  const int above = rank > 0 ? rank - 1 : cq::mpi::null_rank, below = rank < size - 1 ? rank + 1 : cq::mpi::null_rank;

  /// The five-point stencil of the operator, times the spacing squared; zeros come from beyond the border.
  const auto apply = [&](const auto& u) {
    const auto from_above = cq::mpi::sendrecv(u.at(cq::range(-1)), below, above, world);
    const auto from_below = cq::mpi::sendrecv(u.at(cq::range(0, 1)), above, below, world);
    const auto tall = cq::concatenate({from_above, u, from_below}, 0);
    const auto wide = pad(u, 0.0, {0, 1}, {0, 1});
    return 4.0 * u - tall.at(cq::range(0, -2)) - tall.at(cq::range(2)) - wide.at(cq::all, cq::range(0, -2)) -
           wide.at(cq::all, cq::range(2));
  };
  const auto dot = [&](const auto& a, const auto& b) { return cq::mpi::allreduce(sum(a * b), world); };

  const auto solve = cq::jit([&](const auto& b) {
    const auto start = dot(b, b);
    const auto goes_on = [=](const auto& state) {
      const auto& [u, r, p, square, history, i] = state;
      return (square > kTolerance * kTolerance * start) & (i < kMost);
    };
    const auto iterate = [&](const auto& state) {
      const auto& [u, r, p, square, history, i] = state;
      const auto q = apply(p);
      const auto step = square / dot(p, q);
      const auto residual = r - step * q;
      const auto next = dot(residual, residual);
      return std::tuple{
          u + step * p, residual, residual + (next / square) * p, next, history.set(i, sqrt(next / start)), i + 1};
    };
    const auto [u, r, p, square, history, iterations] = cq::while_loop(
        goes_on, iterate, std::tuple{cq::zeros_like(b), b, b, start, cq::zeros<double>({kMost}), int32_t{0}});
    const auto b_left = b - apply(u);  // of the solution itself: that of the iteration is only close to it
    return std::tuple{u, sqrt(dot(b_left, b_left) / start), history, iterations};
  });
  const auto [exact, f] = problem(rows_of(rank, size));
  const auto [u, residual, history, iterations] = solve(D(f * (kSpacing * kSpacing)));
  const double error = cq::mpi::allreduce(cq::max(abs(u - exact)), world, cq::mpi::max).item();
  if (rank != 0) return EXIT_SUCCESS;

  const int32_t count = iterations.item();
  std::cout << kSide << " x " << kSide << " points: " << count << " iterations, residual "
            << (residual.item() < 2 * kTolerance ? "below" : "ABOVE") << ' ' << 2 * kTolerance << " of f, error "
            << std::setprecision(3) << error << '\n';
  pictures::Numbers numbers, logarithms;
  for (int32_t i = 0; i < count; ++i) {
    numbers.push_back(i + 1);
    logarithms.push_back(std::log10(history(i)));
    if (i % 25 == 24) std::cout << "residual after " << i + 1 << ": " << std::setprecision(6) << history(i) << '\n';
  }
  pictures::Plot plot("Conjugate gradients for " + std::to_string(kSide * kSide) + " unknowns", "iteration",
                      "log10 of the residual");
  plot.curve(numbers, logarithms, "#4c8dd6", 2);
  plot.write("ranks_conjugate_gradients.svg");
  // The stencil is exact in y and has an error of order kSpacing^2 in x.
  return residual.item() < 2 * kTolerance && error < 0.1 * kSpacing * kSpacing ? EXIT_SUCCESS : EXIT_FAILURE;
}
