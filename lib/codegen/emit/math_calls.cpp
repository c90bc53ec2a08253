// Functions of lib/math in kernels: emitted as calls, except roots that the processor estimates.
#include "codegen/emit/emitter.h"
#include "primitives/registry.h"

namespace calque::codegen {

using llvm::Value;

namespace {

// Quick code inlines where no more functions of a kernel are: each takes about as much time as the rest of a loop.
constexpr size_t kMostInlinedQuickly = 2;

}  // namespace

bool ScalarInstructions::inlined(const Instruction& function) const {
  const kernel::KernelAnalysis& analysis = k_.analysis();
  return analysis.inlined(function) && (!k_.options().quick || analysis.inlined_functions() <= kMostInlinedQuickly);
}

Reg ScalarInstructions::function(const Instruction& i) {
  const DType d = k_.dtype(i.operands[0]);
  if (is_half(d) && i.primitive == primitives::id_of<primitives::Nextafter>) return nextafter_of_half(i);
  bool vector = false, representable = i.primitive == primitives::id_of<primitives::Rem>;
  for (const Id o : i.operands) {
    vector |= !k_.get(o).uniform();
    representable &= k_.get(o).representable_in_16_bits;
  }
  Values v;
  for (const Id o : i.operands) v.push_back(k_.as_value(is_half(d) ? k_.widened(k_.get(o), d) : k_.get(o), vector));
  const bool estimated =
      functions_.forms().estimates && i.primitive == primitives::id_of<primitives::Rsqrt> && d != DType::f64;
  Reg out = k_.of(estimated ? inverse_root(i.operands[0], v[0])
                            : functions_.call(b_, i.primitive, is_half(d) ? DType::f32 : d, v,
                                              vector ? k_.vectors().mask() : nullptr, inlined(i)));
  if (!is_half(d)) return out;
  out.wide = true;
  out.representable_in_16_bits = representable;
  return k_.options().strict ? k_.bits(out, d) : out;
}

Reg ScalarInstructions::nextafter_of_half(const Instruction& i) {
  const DType d = k_.dtype(i.operands[0]);
  bool vector = false;
  for (const Id o : i.operands) vector |= !k_.get(o).uniform();
  Values values, patterns;
  for (const Id o : i.operands) {
    const Reg r = k_.rounded(k_.get(o), d);
    values.push_back(k_.as_value(r, vector));
    patterns.push_back(k_.as_value(k_.bits(r, d), vector));
  }
  return k_.of(functions_.nextafter_of_half(b_, k_.ops(), d, values, patterns));
}

Value* ScalarInstructions::inverse_root(kernel::Id id, Value* x) {
  /// A quarter of a number of at least this is not subnormal.
  constexpr double kLeast = 0x1p-124;
  return k_.ops().inverse_root(x, !(k_.dtype(id) == DType::f32 && k_.analysis().lower_bound(id) >= kLeast));
}

}  // namespace calque::codegen
