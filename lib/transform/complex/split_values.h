#pragma once
// The forms of the values of a graph whose complex numbers are split.
#include <vector>

#include "primitives/core/writer.h"
#include "primitives/elementwise/complex_terms.h"

namespace calque::transform {

using primitives::Term;
using primitives::Writer;
using Parts = primitives::complex_numbers::Parts<Value>;
using TermParts = primitives::complex_numbers::Parts<Term>;

enum class Form : uint8_t { joined, parts };

/// By value of `from`, what stands for it in `to`. Forms that are not there are made at the end of `to`.
class SplitValues {
 public:
  SplitValues(Graph& to, const Graph& from) : to_(to), from_(from), forms_(from.num_values()) {}

  const Graph& from() const { return from_; }
  Graph& to() const { return to_; }
  bool is_complex(Value v) const { return calque::is_complex(from_.dtype(v)); }

  /// Of a value that is not complex.
  Value real(Value v);
  /// Of a complex value.
  Value joined(const Writer& w, Value v);
  Parts parts(const Writer& w, Value v);
  TermParts terms(const Writer& w, Value v);

  void set_real(Value v, Value to) { forms_[v.id()].real = to; }
  void set_joined(Value v, Value to);
  void set_parts(Value v, const Parts& to);
  void set_terms(Value v, const TermParts& to) { set_parts(v, {to.re.value, to.im.value}); }

  /// The form that a complex value was defined in; literals have none.
  bool is_computed_in_parts(Value v) const { return form_of(v) == Defined::parts; }
  bool is_computed_joined(Value v) const { return form_of(v) == Defined::joined; }

 private:
  enum class Defined : uint8_t { nowhere, joined, parts };
  struct Forms {
    Value real, joined;
    Parts parts;
    Defined defined = Defined::nowhere;
  };
  Defined form_of(Value v) const;
  void make_literal(Value v);

  Graph& to_;
  const Graph& from_;
  std::vector<Forms> forms_;
};

/// (re, im) as one value with a last dimension of 2.
Value join(const Writer& w, const Parts& parts);

}  // namespace calque::transform
