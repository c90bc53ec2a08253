// EXPECT: neither arrays nor a static value
#include <unordered_map>

#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([](const auto& m) { return m.at(1) * 2.0f; })(std::unordered_map<int, F>{{1, F(1.0f)}});
}
