// EXPECT: this functor takes pointers .* cq::functor<2>\(f\)
#include <calque/calque.h>
namespace cq = calque;
struct Difference {
  template <class T>
  bool operator()(const T* a, const T* b, T* residuals) const {
    residuals[0] = a[0] - b[0];
    return true;
  }
};
void f(const cq::Array<double>& x) { (void)cq::jit(Difference())(x, x); }
