// EXPECT: class template
#include <vector>

#include <calque/calque.h>
namespace cq = calque;
struct Model {
  std::vector<cq::Array<float>> layers;
};
void f(const Model& m) {
  cq::jit([](const auto& d) { return d.layers[0]; })(m);
}
