#pragma once
// What the formulas of complex_arithmetic.h need beyond operators, for terms: found by the namespace of Term.
#include "primitives/core/writer.h"
#include "primitives/elementwise/complex_arithmetic.h"

namespace calque::primitives {

inline Term like(Term x, double number) { return constant(x, number); }
inline Term both(Term p, Term q) { return p & q; }
inline Term either(Term p, Term q) { return p | q; }
Term is_nan(Term x);
/// As complex_numbers::scale_of, of f64.
Term scale_of(Term x);

}  // namespace calque::primitives
