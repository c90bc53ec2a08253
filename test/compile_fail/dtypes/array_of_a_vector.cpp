// EXPECT: (conversion from .std::vector|no viable conversion from .*vector)
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() { F x = std::vector<float>{1, 2}; }
