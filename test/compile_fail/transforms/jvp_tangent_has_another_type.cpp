// EXPECT: jvp: a tangent has another type than its primal
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w, const cq::Array<double>& d) {
  cq::jvp([](auto x) { return x * x; }, std::tuple{w}, std::tuple{d});
}
