#pragma once
// Derivatives of functions that must be smooth.
#include <functional>

#include "calque/calque.h"

namespace calque::test {

/// Largest difference between two arrays.
double distance(const Array<double>& a, const Array<double>& b);

/// Compares first and second derivatives of f, in both modes, with differences. The function is of one type, since
/// each type of f would compile all of these derivatives.
void check_smooth(const std::function<Tracer<double>(Tracer<double>)>& f, const Array<double>& x);

}  // namespace calque::test
