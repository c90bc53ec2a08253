// EXPECT: scan.*pair
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  cq::jit([](auto x) { return cq::scan([](auto carry, auto row) { return carry + row; }, 0.0f, x).first; })(w);
}
