#pragma once
// Matrices of complex numbers as real arrays with a last dimension of 2, for code that knows no complex numbers: an
// equation with the attribute `paired=true` has such operands and results in place of complex ones. Only compilation
// makes them, after derivatives and batching.
#include "primitives/core/rule.h"

namespace calque::primitives {

inline constexpr AttributeSpec kPairedAttribute{"paired", AttributeKind::boolean, true};
bool is_paired(const Attributes& attributes);

/// c64[3,3] for f32[3,3,2]; other than floating types stay.
Type unpaired(const Type& type);

/// The types of a paired equation's results as complex ones, from those of its operands.
std::vector<Type> unpaired_results(PrimitiveId id, const std::vector<Type>& operands, const Attributes& attributes);

/// Typing and evaluation of a paired equation, by those of the complex one.
void infer_paired(Typing& t, PrimitiveId id);
void evaluate_paired(Evaluation& e, PrimitiveId id);

}  // namespace calque::primitives
