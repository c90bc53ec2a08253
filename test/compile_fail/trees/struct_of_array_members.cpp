// EXPECT: make it a template over the whole array: template <class A> struct Layer
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
template <class T, int N>
struct Layer {
  cq::Array<T> w;
};
void f() {
  (void)cq::jit([](const auto& l) { return l.w * 2.0f; })(Layer<float, 3>{F(1.0f)});
}
