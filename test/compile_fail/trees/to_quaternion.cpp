// EXPECT: make a quaternion of its coefficients
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
Eigen::Quaterniond f(const cq::Array<double>& a) { return cq::to<Eigen::Quaterniond>(a); }
