// EXPECT: jvp: there must be one tangent for each primal
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  cq::jvp([](auto x, auto y) { return x * y; }, std::tuple{w, w}, std::tuple{w});
}
