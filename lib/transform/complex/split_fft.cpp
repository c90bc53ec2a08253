// Fourier transforms of complex numbers in memory.
#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;

bool split_fft(const ComplexEquation& s) {
  if (s.e.id() != id_of<Fft>) return false;
  Attributes attributes = s.e.attributes();
  attributes.set("pairs", true);
  const Value out = s.w.emit(id_of<Fft>, {s.is_complex(0) ? s.joined(0) : s.real(0)}, std::move(attributes));
  s.values.is_complex(s.e.result()) ? s.values.set_joined(s.e.result(), out) : s.values.set_real(s.e.result(), out);
  return true;
}

}  // namespace calque::transform
