// g++ takes the options for axes, which other compilers refuse.
// EXPECT: axes stand before the options: var\(x, \{\}, \{\.ddof = 1\}\)|call of overloaded .var\(.*is ambiguous
#include "calque/calque.h"

int main() { return static_cast<int>(var(calque::Array<double>{1, 2, 4}, {.ddof = 1}).item()); }
