// EXPECT: minimize_newton: f must return one real floating number
#include <calque/calque.h>
namespace cq = calque;
void f() {
  (void)cq::minimize_newton([](auto x) { return std::pair{x, x}; }, 1.0);
}
