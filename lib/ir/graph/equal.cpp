// Graphs are equal when a one-to-one renaming of values maps one to the other, with the equations in the given order.
#include "calque/ir/graph.h"

namespace calque {
namespace {

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b)
      : a_(a), b_(b), to_b_(a.num_values(), kUnseen), to_a_(b.num_values(), kUnseen) {}

  bool equal() {
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
      if (!same_equation(e, *other++)) return false;
    }
    for (size_t i = 0; i < a_.outputs().size(); ++i) {
      if (!same_use(a_.outputs()[i], b_.outputs()[i])) return false;
    }
    return true;
  }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;

  void pair(Value a, Value b) {
    to_b_[a.id()] = b.id();
    to_a_[b.id()] = a.id();
  }

  bool same_equation(const Equation& a, const Equation& b) {
    if (a.primitive() != b.primitive() || a.operands().size() != b.operands().size() ||
        a.results().size() != b.results().size() || a.subgraphs().size() != b.subgraphs().size() ||
        a.attributes() != b.attributes()) {
      return false;
    }
    for (size_t i = 0; i < a.operands().size(); ++i) {
      if (!same_use(a.operand(i), b.operand(i))) return false;
    }
    for (size_t i = 0; i < a.subgraphs().size(); ++i) {
      if (!(a.subgraphs()[i] == b.subgraphs()[i])) return false;
    }
    for (size_t i = 0; i < a.results().size(); ++i) {
      if (a_.type(a.result(i)) != b_.type(b.result(i))) return false;
      pair(a.result(i), b.result(i));
    }
    return true;
  }

  bool same_use(Value a, Value b) {
    if (a_.kind(a) != b_.kind(b) || a_.type(a) != b_.type(b)) return false;
    if (a_.is_literal(a)) return a_.literal(a) == b_.literal(b);
    if (to_b_[a.id()] != kUnseen || to_a_[b.id()] != kUnseen) {
      return to_b_[a.id()] == b.id() && to_a_[b.id()] == a.id();
    }
    if (a_.kind(a) != ValueKind::constant || !identical(a_.constant(a), b_.constant(b))) return false;
    pair(a, b);
    return true;
  }

  const Graph& a_;
  const Graph& b_;
  std::vector<uint32_t> to_b_, to_a_;
};

}  // namespace

bool operator==(const Graph& a, const Graph& b) { return &a == &b || Comparison(a, b).equal(); }

}  // namespace calque
