// g++ takes the options for axes, which other compilers refuse.
// EXPECT: amax\(x, \{\.where = cq::all, \.initial = 0\}\)|call of overloaded .amax\(.*is ambiguous
#include <calque/calque.h>
namespace cq = calque;
auto f(cq::Array<double> x) { return cq::amax(x, {.initial = 0}); }
