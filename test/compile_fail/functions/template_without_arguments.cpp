// EXPECT: no matching function for call to .jit
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
template <class X>
X twice(X x) {
  return x + x;
}
void f() { (void)cq::jit(twice)(F(1.0f)); }
