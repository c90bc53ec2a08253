// EXPECT: fori_loop.*carry
#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<float>& w) {
  cq::jit([](auto x) { return cq::fori_loop(0, 3, [](auto, auto s) { return cq::cast<double>(s); }, x); })(w);
}
