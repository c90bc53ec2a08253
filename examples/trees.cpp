// Arguments and results are trees: structs, vectors, tuples and maps of arrays. A struct is a class template over its
// leaf type: Layer<Array<float>> outside is Layer<Tracer<float>> inside. Members that are not arrays are static: the
// lambda receives their values, and other values give another compiled function.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>

namespace cq = calque;

enum class Activation { none, relu, tanh };

template <class A>
struct Layer {
  A w, b;
  Activation activation;
};

template <class A>
struct Network {
  std::vector<Layer<A>> layers;
  std::string name;
};

int main() {
  using Array = cq::Array<float>;

  auto predict = cq::jit([](const auto& network, auto x) {
    for (const auto& layer : network.layers) {
      x = matmul(x, layer.w) + layer.b;
      switch (layer.activation) {
        case Activation::none:
          break;
        case Activation::relu:
          x = relu(x);
          break;
        case Activation::tanh:
          x = tanh(x);
          break;
      }
    }
    return x;
  });

  // x1 xor x2, by hand: relu(x1 + x2) - 2 relu(x1 + x2 - 1).
  Network<Array> network{
      {{Array{{1, 1}, {1, 1}}, Array{0, -1}, Activation::relu}, {Array{{1}, {-2}}, Array{0}, Activation::none}}, "xor"};
  const Array x = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const Array y = predict(network, x);
  std::cout << network.name << ": " << y << '\n';
  bool right = cq::array_equal(y, Array{{0}, {1}, {1}, {0}});

  // Another static member: the same code, traced once more.
  network.layers[1].activation = Activation::tanh;
  right &= std::abs(predict(network, x)(1, 0) - std::tanh(1.0f)) < 1e-6f;
  right &= predict.cache_info().misses == 2;

  // A result may be any tree. Here: every layer halved, and the largest weight by name.
  auto shrink = cq::jit([](auto net) {
    std::map<std::string, cq::Tracer<float>> largest;
    int index = 0;
    for (auto& layer : net.layers) {
      layer.w *= 0.5;
      layer.b *= 0.5;
      largest["layer " + std::to_string(index++)] = amax(abs(layer.w));
    }
    return std::pair{net, largest};
  });
  const auto [half, largest] = shrink(network);
  for (const auto& [name, value] : largest) std::cout << name << ": " << value << '\n';
  right &= half.name == "xor" && half.layers[1].w(1, 0) == -1.0f && largest.at("layer 1").item() == 1.0f;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
