// EXPECT: do not convert elements: .* cast first
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p, v;
  S m;
};
void f(const State<double>& s) { (void)cq::to<State<float>>(s); }
