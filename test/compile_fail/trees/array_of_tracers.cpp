// EXPECT: struct with cq::Array<T> members .* struct Layer \{ A w; \}
// LINES: 16
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class T>
struct OfElements {
  cq::Array<T> w;
};
void f(const OfElements<float>& s) {
  cq::jit([](const auto& t) { return t.w; })(s);
}
