// matrix_power and expm.
#include <optional>

#include "frontend/linalg/systems.h"

namespace calque::detail::ops::linalg {

Handle matrix_power(const Operand& a, int64_t n, Location at) {
  const Site s{"linalg::matrix_power", at};
  Handle base = square_matrices_of(a, s);
  if (n < 0) base = inverse(base, s);
  // Of the least of numbers the magnitude is one more than that of the greatest.
  auto exponent = n < 0 ? ~static_cast<uint64_t>(n) + 1 : static_cast<uint64_t>(n);
  std::optional<Handle> power;
  while (exponent != 0) {
    if (exponent & 1) power = power ? product(*power, base, s) : base;
    exponent >>= 1;
    if (exponent != 0) base = product(base, base, s);
  }
  return power ? *power : identity(type(base), s);
}

}  // namespace calque::detail::ops::linalg
