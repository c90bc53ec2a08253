// EXPECT: (conversion from .*Array<double>|no viable conversion from .*Array<double>)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  Eigen::VectorXf y = cq::jit([](auto x) { return x * 2.0; })(Eigen::VectorXd(3));
}
