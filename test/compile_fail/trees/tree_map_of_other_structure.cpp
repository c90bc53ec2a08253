// EXPECT: tree_map: the trees have different structures
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
template <class A>
struct Layer {
  A w, b;
};
void f(const Layer<cq::Array<float>>& s) {
  cq::tree_map([](auto a, auto b) { return a + b; }, s, std::tuple{s.w, s.b});
}
