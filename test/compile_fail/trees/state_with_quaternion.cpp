// EXPECT: keep a quaternion's coeffs\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct Attitude {
  Eigen::Quaternion<S> q;
};
void f(const Attitude<double>& s) {
  cq::jit([](const auto& t) { return t; })(s);
}
