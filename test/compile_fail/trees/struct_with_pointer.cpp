// EXPECT: static|pointer
#include <calque/calque.h>
namespace cq = calque;
template <class A>
struct Holder {
  A w;
  const float* p;
};
void f(const cq::Array<float>& w) {
  cq::jit([](const auto& d) { return d.w; })(Holder<cq::Array<float>>{w, nullptr});
}
