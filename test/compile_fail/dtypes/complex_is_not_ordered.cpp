// EXPECT: complex
#include <complex>

#include <calque/calque.h>
namespace cq = calque;
void f(const cq::Array<std::complex<float>>& z) {
  cq::jit([](auto x) { return x < x; })(z);
}
