// EXPECT: from copies elements of the array's type; write cq::Array<U>::from
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() { F x = F::from(std::vector<double>{1, 2, 3}, {3}); }
