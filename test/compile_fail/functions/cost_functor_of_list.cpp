// EXPECT: this functor takes pointers .* cq::functor<2>\(f\)
#include <calque/calque.h>
namespace cq = calque;
struct Difference {
  template <class T>
  bool operator()(const T* const* blocks, T* residuals) const {
    residuals[0] = blocks[0][0] - blocks[1][0];
    return true;
  }
};
void f(const cq::Array<double>& x) { (void)cq::vmap(Difference())(x, x); }
