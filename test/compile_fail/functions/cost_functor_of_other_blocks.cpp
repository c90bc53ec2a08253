// EXPECT: functor: the functor cannot be called as const with a `const T\*` for each of these blocks
#include <calque/calque.h>
namespace cq = calque;
struct Difference {
  template <class T>
  bool operator()(const T* a, const T* b, T* residuals) const {
    residuals[0] = a[0] - b[0];
    return true;
  }
};
void f(const cq::Array<double>& x) { (void)cq::functor<1>(Difference())(x); }
