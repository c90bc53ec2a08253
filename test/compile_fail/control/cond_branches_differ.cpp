// EXPECT: cond.*branch|branch.*cond
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  cq::jit([](auto x) {
    return cq::cond(true, [](auto a) { return a; }, [](auto a) { return cq::cast<double>(a); }, x);
  })(w);
}
