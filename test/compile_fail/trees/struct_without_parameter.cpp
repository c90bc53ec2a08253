// EXPECT: must be a class template over its leaf type
#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
struct Wrong {
  cq::Array<float> a;
  Eigen::Vector3d v;
};
void f(const Wrong& s) {
  cq::jit([](const auto& t) { return t.a; })(s);
}
