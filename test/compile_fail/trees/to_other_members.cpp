// EXPECT: the tree has not the members of that type
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p, v;
  S m;
};
template <class A>
struct Layer {
  A w, b;
};
void f(const Layer<cq::Array<double>>& s) { (void)cq::to<State<double>>(s); }
