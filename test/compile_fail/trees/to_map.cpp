// EXPECT: of Eigen's types Matrix and Array are made from arrays
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
void f(const cq::Array<double>& a) { (void)cq::to<Eigen::Map<Eigen::VectorXd>>(a); }
