// EXPECT: base class
#include <calque/calque.h>
namespace cq = calque;
struct Base {
  int n;
};
template <class A>
struct Derived : Base {
  A w;
};
void f(const cq::Array<float>& w) {
  cq::jit([](const auto& d) { return d.w; })(Derived<cq::Array<float>>{{1}, w});
}
