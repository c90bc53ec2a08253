// EXPECT: write cq::linspace<double>\(0, 1, 5\), with the element type; outside a trace
// EXPECT: cq::Array<double>::linspace\(0, 1, 5\)
#include <calque/calque.h>
namespace cq = calque;
auto f() { return cq::linspace(0, 1, 5); }
