// EXPECT: item\(\)
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<double>& a) {
  double s = 0;
  s += a;
}
