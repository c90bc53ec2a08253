// How many elements are not 0 is not known while tracing.
// EXPECT: calque: the extent of nonzero\(x\) depends on values, and shapes are known while tracing: give it, as in
// nonzero\(x, \{\.size = 8\}\)
#include "calque/calque.h"

int main() {
  auto f = calque::jit([](auto x) { return nonzero(x); });
  f(calque::Array<int>{3, 0, 3});
}
