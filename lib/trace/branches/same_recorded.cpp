// Whether two runs of a lambda have recorded the same.
#include <cstring>
#include <typeinfo>
#include <vector>

#include "ir/values/storage_identity.h"
#include "trace/branches/path.h"

namespace calque::detail {
namespace {

/// Each run makes its own object of a C++ function: they are one if they are of one type, which is the expression that
/// made them. What they capture is the same, as is all that the lambda reads.
bool same_attributes(const Attributes& a, const Attributes& b) {
  if (a == b) return true;
  if (a.size() != b.size()) return false;
  using Function = std::shared_ptr<const Opaque>;
  Attributes known = a;
  for (const Attribute& attribute : b) {
    const auto* const function = std::get_if<Function>(&attribute.value);
    if (function == nullptr || *function == nullptr) continue;
    const AttributeValue* const other = a.find(attribute.name);
    const auto* const earlier = other == nullptr ? nullptr : std::get_if<Function>(other);
    if (earlier == nullptr || *earlier == nullptr) return false;
    const Opaque &x = **earlier, &y = **function;
    if (typeid(x) != typeid(y)) return false;
    known.set(attribute.name, *function);
  }
  return known == b;
}

/// Graphs are the same if a one-to-one renaming of values maps one to the other.
class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b) : a_(a), b_(b), to_b_(a.num_values()), to_a_(b.num_values()) {}

  bool same() {
    if (a_.inputs().size() != b_.inputs().size() || a_.outputs().size() != b_.outputs().size() ||
        a_.num_equations() != b_.num_equations()) {
      return false;
    }
    for (size_t i = 0; i < a_.inputs().size(); ++i) {
      if (a_.type(a_.inputs()[i]) != b_.type(b_.inputs()[i])) return false;
      pair(a_.inputs()[i], b_.inputs()[i]);
    }
    auto other = b_.equations().begin();
    for (const Equation& e : a_.equations()) {
      const Equation& f = *other++;
      if (!same_operation(e, f)) return false;
      for (size_t i = 0; i < e.operands().size(); ++i) {
        if (!same_use(e.operand(i), f.operand(i))) return false;
      }
      for (size_t i = 0; i < e.results().size(); ++i) {
        if (a_.type(e.result(i)) != b_.type(f.result(i))) return false;
        pair(e.result(i), f.result(i));
      }
    }
    for (size_t i = 0; i < a_.outputs().size(); ++i) {
      if (!same_use(a_.outputs()[i], b_.outputs()[i])) return false;
    }
    return true;
  }

 private:
  void pair(Value v, Value w) {
    to_b_[v.id()] = w;
    to_a_[w.id()] = v;
  }
  bool same_use(Value v, Value w) const {
    const Value known = to_b_[v.id()];
    if (known.valid() || to_a_[w.id()].valid()) return known == w;
    return a_.kind(v) != ValueKind::input && a_.kind(v) != ValueKind::result && same_leaf(a_, v, b_, w);
  }

  const Graph &a_, &b_;
  std::vector<Value> to_b_, to_a_;
};

}  // namespace

bool same_leaf(const Graph& a, Value v, const Graph& b, Value w) {
  if (a.kind(v) != b.kind(w) || a.type(v) != b.type(w)) return false;
  switch (a.kind(v)) {
    case ValueKind::literal:
      return a.literal(v) == b.literal(w);
    case ValueKind::input:
      return a.input_index(v) == b.input_index(w);
    case ValueKind::constant: {
      const AnyArray &x = a.constant(v), &y = b.constant(w);
      if (storage_identity(x.storage()) == storage_identity(y.storage())) return true;
      return x.has_data() && y.has_data() && x.device() == Device{} && y.device() == Device{} &&
             (x.bytes() == 0 || std::memcmp(x.data(), y.data(), x.bytes()) == 0);
    }
    case ValueKind::result:
      break;
  }
  return v == w;
}

bool same_operation(const Equation& a, const Equation& b) {
  if (&a.definition() != &b.definition() || a.operands().size() != b.operands().size() ||
      a.results().size() != b.results().size() || a.subgraphs().size() != b.subgraphs().size() ||
      !same_attributes(a.attributes(), b.attributes())) {
    return false;
  }
  for (size_t i = 0; i < a.subgraphs().size(); ++i) {
    const Graph &x = a.subgraphs()[i], &y = b.subgraphs()[i];
    if (&x != &y && !Comparison(x, y).same()) return false;
  }
  return true;
}

}  // namespace calque::detail
