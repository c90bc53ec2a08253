// Functions of lib/math in kernels: emitted as calls, except roots that the processor estimates.
#include "codegen/emit/emitter.h"
#include "primitives/registry.h"

namespace calque::codegen {

using llvm::Value;

bool KernelEmitter::is_function(const Instruction& i) const {
  return primitives::rules(i.primitive).kind(dtype(i.operands[0])) == primitives::LowerKind::function;
}

Reg KernelEmitter::function(const Instruction& i) {
  const DType d = dtype(i.operands[0]);
  if (is_half(d) && i.primitive == primitives::id_of<primitives::Nextafter>) return nextafter_of_half(i);
  bool vector = false, representable = i.primitive == primitives::id_of<primitives::Rem>;
  for (const Id o : i.operands) {
    vector |= !get(o).uniform();
    representable &= get(o).representable_in_16_bits;
  }
  Values v;
  for (const Id o : i.operands) v.push_back(as_value(is_half(d) ? widened(get(o), d) : get(o), vector));
  const bool estimated =
      functions_.forms().estimates && i.primitive == primitives::id_of<primitives::Rsqrt> && d != DType::f64;
  Reg out = of(estimated ? inverse_root(i.operands[0], v[0])
                         : functions_.call(b_, i.primitive, is_half(d) ? DType::f32 : d, v,
                                           vector ? vectors_.mask() : nullptr, analysis_.inlined(i)));
  if (!is_half(d)) return out;
  out.wide = true;
  out.representable_in_16_bits = representable;
  return options_.strict ? bits(out, d) : out;
}

Reg KernelEmitter::nextafter_of_half(const Instruction& i) {
  const DType d = dtype(i.operands[0]);
  bool vector = false;
  for (const Id o : i.operands) vector |= !get(o).uniform();
  Values values, patterns;
  for (const Id o : i.operands) {
    const Reg r = rounded(get(o), d);
    values.push_back(as_value(r, vector));
    patterns.push_back(as_value(bits(r, d), vector));
  }
  return of(functions_.nextafter_of_half(b_, ops_, d, values, patterns));
}

}  // namespace calque::codegen
