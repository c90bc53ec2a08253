// How many elements are distinct is not known while tracing.
// EXPECT: calque: the extent of unique\(x\) depends on values, and shapes are known while tracing: give it, as in
// unique\(x, \{\.size = 8\}\)
#include "calque/calque.h"

int main() {
  auto f = calque::jit([](auto x) { return unique(x); });
  f(calque::Array<int>{3, 1, 3});
}
