#pragma once
// Functions of complex numbers, computed from real and imaginary parts. Those that are not in complex.cpp have the
// derivatives of the textbook, by custom_jvp equations: f'(z) is a function of complex numbers again.
#include <functional>

#include "frontend/ops/expression.h"

namespace calque::detail::ops {

/// The function `site.name` of a complex number. Throws DTypeError if it has no complex version.
Handle complex_unary(Handle z, const Site& site);

/// The function of that name among asin ... atanh, or of tan, log1p, expm1, log2, log10, rsqrt and sign; nothing for
/// other names.
std::optional<Handle> complex_inverse(Expression z, const Site& s);
std::optional<Handle> complex_derived(Expression z, const Site& s);

/// z to a complex power.
Handle complex_power(Expression z, Expression exponent, const Site& s);
/// z^n by multiplication, for |n| <= kMostMultiplied.
inline constexpr int kMostMultiplied = 64;
Handle complex_power(Expression z, int exponent, const Site& s);

using ComplexFunction = std::function<Expression(Expression)>;
/// value(z), whose derivative by z is derivative(z). In the first two derivatives of it the value has this derivative
/// too; in further ones, that of its parts.
Expression holomorphic(Expression z, const Site& s, const ComplexFunction& value, const ComplexFunction& derivative);

}  // namespace calque::detail::ops
