// EXPECT: array member's type must come from the struct's template parameter
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct Fixed {
  Eigen::Matrix<S, 3, 1> q;
  Eigen::Vector3d axis;
};
void f(const Fixed<double>& s) {
  cq::jit([](const auto& t) { return t.q; })(s);
}
