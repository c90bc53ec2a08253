// EXPECT: a sparse matrix as dense
#include <Eigen/SparseCore>
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([](auto x) { return x; })(Eigen::SparseMatrix<double>(3, 3));
}
