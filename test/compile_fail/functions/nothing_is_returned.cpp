// EXPECT: the function returns nothing; return the values it computes
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  cq::jit([](auto x) { (void)(x * 2.0f); })(F(1.0f));
}
