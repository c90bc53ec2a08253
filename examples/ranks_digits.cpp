// Data-parallel training: each rank has a share of the digits and the whole network, and the gradient of all examples
// is the sum of the ranks' gradients. So the loss falls as it does on one process, for any number of ranks: rank 0
// trains once more on its own, and compares. Draws ranks_digits.svg. Data: the UCI digits (examples/data).
//   mpirun -np 4 ranks_digits digits.csv
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <calque/mpi.h>

#include "pictures/plot.h"

namespace cq = calque;
using namespace cq::tree_operators;
using D = cq::Array<double>;

constexpr int kSteps = 120;
constexpr int64_t kPixels = 64, kHidden = 32, kClasses = 10;

/// A network with one hidden layer.
template <class A>
struct Network {
  A w1, b1, w2, b2;
};
struct Digits {
  D images;                    // [count, 64]
  cq::Array<int32_t> classes;  // [count]
};

/// Row `first` and each `step`-th after it: 64 pixels from 0 to 16, and a class.
Digits read_digits(const std::string& path, int first, int step) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<double> pixels;
  std::vector<int32_t> classes;
  std::string line, number;
  for (int row = 0; std::getline(file, line); ++row) {
    if (row % step != first) continue;
    std::stringstream numbers(line);
    for (int i = 0; i < kPixels && std::getline(numbers, number, ','); ++i) pixels.push_back(std::stod(number) / 16);
    std::getline(numbers, number);
    classes.push_back(std::stoi(number));
  }
  return {D::from(pixels).reshape({-1, kPixels}), cq::Array<int32_t>::from(classes)};
}

const auto kScores = [](const auto& net, const auto& x) {
  return matmul(tanh(matmul(x, net.w1) + net.b1), net.w2) + net.b2;
};
/// The sum of the cross-entropies: sums of ranks add up to that of all, means do not.
const auto kLoss = [](const auto& net, const auto& x, const auto& classes) {
  return -sum(take_along_axis(log_softmax(kScores(net, x), 1), classes.at(cq::all, cq::newaxis), 1));
};

/// Gradient descent with momentum on the examples of all these ranks. The losses of the steps, and the last network.
auto train(const Network<D>& start, const Digits& digits, const cq::mpi::Communicator& ranks) {
  const auto steps = cq::jit([ranks](const auto& start, auto x, auto classes) {
    const auto count = cq::mpi::allreduce(double(x.shape()[0]), ranks);  // of numbers: at once, while tracing
    return cq::scan(
        [&](const auto& state, auto) {
          const auto& [net, velocity] = state;
          const auto [loss, gradient] = cq::mpi::allreduce(cq::value_and_grad(kLoss)(net, x, classes), ranks);
          const auto next = 0.9 * velocity - (0.1 / count) * gradient;
          return std::pair{std::tuple{net + next, next}, loss / count};
        },
        std::tuple{start, cq::zeros_like(start)}, cq::iota<int32_t>(kSteps));
  });
  auto [state, losses] = steps(start, digits.images, digits.classes);
  return std::pair{losses, std::get<0>(state)};
}

int main(int argc, char** argv) {
  cq::mpi::Session session(argc, argv);
  const auto world = cq::mpi::world();
  const std::string path = argc > 1 ? argv[1] : "examples/data/digits.csv";
  const auto [key1, key2] = cq::random::split(cq::random::key(1986));
  const Network<D> start{cq::random::normal<double>(key1, {kPixels, kHidden}) / 8, D::zeros({kHidden}),
                         cq::random::normal<double>(key2, {kHidden, kClasses}) / 6, D::zeros({kClasses})};
  const auto [losses, net] = train(start, read_digits(path, world.rank(), world.size()), world);

  const auto alone = world.split(world.rank());  // each rank by itself
  if (world.rank() != 0) return EXIT_SUCCESS;
  const Digits all = read_digits(path, 0, 1);
  const auto [expected, unused] = train(start, all, alone);
  const double right = cq::mean(cq::cast<double>(cq::argmax(kScores(net, all.images), 1) == all.classes)).item();

  pictures::Numbers steps, curve, compared_at, compared;
  bool same = true;
  for (int i = 0; i < kSteps; ++i) {
    steps.push_back(i + 1);
    curve.push_back(losses(i));
    same &= std::abs(losses(i) - expected(i)) < 1e-10 * expected(i);
    if (i % 10 != 9) continue;
    compared_at.push_back(i + 1);
    compared.push_back(expected(i));
    std::cout << "step " << i + 1 << ": loss " << std::setprecision(15) << losses(i) << '\n';
  }
  std::cout << 100 * right << " % of the digits right; " << (same ? "the" : "NOT the") << " losses of one process\n";
  pictures::Plot plot("Training on " + std::to_string(all.classes.size()) + " digits shared by ranks", "step", "loss");
  plot.points(compared_at, compared, "#e07b39", 3.5);
  plot.curve(steps, curve, "#4c8dd6", 2);
  plot.label("one process", "#e07b39");
  plot.label("ranks together", "#4c8dd6");
  plot.reach(0);
  plot.reach(3);
  plot.write("ranks_digits.svg");
  return same && right > 0.95 ? EXIT_SUCCESS : EXIT_FAILURE;
}
