// EXPECT: Eigen expression .* write .eval\(\)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f() {
  (void)cq::compile<double(double)>([](auto x) {
    const Eigen::Matrix<cq::Tracer<double>, 1, 1> u(x);
    return u * 2.0;
  });
}
