// EXPECT: random::normal: the first argument is a key
#include <calque/calque.h>

auto draw() { return calque::random::normal<float>(42, {3}); }
