// Heat on a plate of two materials, du/dt = k (d2u/dx2 + d2u/dy2): each rank has a part of the rows, and in each step
// of a compiled loop neighbours exchange the rows at their borders. Beyond the plate it is cold: u = 0, which is what
// comes from no rank. The arithmetic of a cell is the same on any number of ranks, and so is each bit of the picture;
// rank 0 computes the plate once more on its own, and compares. Writes ranks_heat.ppm.
//   mpirun -np 4 ranks_heat
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <calque/mpi.h>

namespace cq = calque;
using D = cq::Array<double>;

constexpr int64_t kWidth = 360, kHeight = 240;
constexpr int kSteps = 1000;

/// The temperatures of the rows of each of these ranks after all steps: [rows, width].
D plate(const cq::mpi::Communicator& ranks) {
  const int rank = ranks.rank(), size = ranks.size();
  if (kHeight % size != 0)
    throw std::invalid_argument("the plate has " + std::to_string(kHeight) + " rows, which " + std::to_string(size) +
                                " ranks cannot share equally");
  const int64_t rows = kHeight / size;
  const int above = rank > 0 ? rank - 1 : cq::mpi::null_rank, below = rank < size - 1 ? rank + 1 : cq::mpi::null_rank;
  const auto compute = cq::jit([=](auto first_row) {
    // In units of the height, from the middle of the plate.
    const auto x = (cq::iota<double>(kWidth) + 0.5 * (1 - kWidth)) / double(kHeight);
    const auto y =
        ((first_row + cq::iota<double>(rows) + 0.5 * (1 - kHeight)) / double(kHeight)).at(cq::all, cq::newaxis);
    const auto radius = sqrt(x * x + y * y), angle = atan2(y, x);
    const auto conductivity = where(sin(5.0 * angle + 24.0 * radius) > 0.0, 0.24, 0.01);
    const auto hot = where(abs(radius - 0.25) < 0.12, 1.0, 0.0);

    const auto step = [&](auto, const auto& u) {
      const auto from_above = cq::mpi::sendrecv(u.at(cq::range(rows - 1)), below, above, ranks);
      const auto from_below = cq::mpi::sendrecv(u.at(cq::range(0, 1)), above, below, ranks);
      const auto padded = pad(cq::concatenate({from_above, u, from_below}, 0), 0.0, {0, 1}, {0, 1});
      const auto moved = [&](int64_t down, int64_t right) {
        return padded.at(cq::range(1 + down, 1 + down + rows), cq::range(1 + right, 1 + right + kWidth));
      };
      return u + conductivity * (moved(-1, 0) + moved(1, 0) + moved(0, -1) + moved(0, 1) - 4.0 * u);
    };
    return cq::fori_loop(0, kSteps, step, hot);
  });
  return compute(double(rank * rows));
}

int main(int argc, char** argv) {
  cq::mpi::Session session(argc, argv);
  const auto world = cq::mpi::world();
  const D whole = cq::mpi::gather(plate(world), 0, world).reshape({kHeight, kWidth});

  const auto alone = world.split(world.rank());  // each rank by itself
  if (world.rank() != 0) return EXIT_SUCCESS;
  const bool same = cq::array_equal(whole, plate(alone));
  const double hottest = cq::max(whole).item();
  std::cout << kHeight << " x " << kWidth << " cells, " << kSteps << " steps: mean " << cq::mean(whole) << ", hottest "
            << hottest << "; " << (same ? "the" : "NOT the") << " bits of one process\n";

  std::string bytes;
  for (const double u : whole.host()) {
    const double heat = u / hottest;
    for (const double begin : {0.0, 1.0, 2.0})  // black, red, yellow, white
      bytes.push_back(static_cast<char>(std::lround(255 * std::clamp(3 * heat - begin, 0.0, 1.0))));
  }
  std::ofstream("ranks_heat.ppm", std::ios::binary) << "P6\n" << kWidth << ' ' << kHeight << "\n255\n" << bytes;
  // Heat flows, and only out of the plate.
  return same && hottest > 0.1 && hottest < 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
