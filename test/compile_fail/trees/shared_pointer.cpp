// EXPECT: neither arrays nor a static value
#include <memory>

#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
void f() {
  (void)cq::jit([](const auto& p) { return *p; })(std::make_shared<F>(1.0f));
}
