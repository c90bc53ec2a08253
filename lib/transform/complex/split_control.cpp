// Control flow carries parts, so that loops over elements stay loops over elements. Constants and slices that lie in
// memory joined stay so.
#include "primitives/control/loop_parts.h"
#include "primitives/list.h"
#include "transform/complex/split_complex.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;

namespace {

/// Collects the operands of an equation with sub-graphs, and the forms in which they enter these.
class Operands {
 public:
  explicit Operands(const ComplexEquation& s) : s_(s) {}

  /// Appends `count` operands from `first` on. Returns how many real ones they became, and adds to the forms.
  size_t append(size_t first, size_t count, bool always_parts, std::vector<Form>& forms) {
    const size_t before = values_.size();
    for (size_t i = first; i < first + count; ++i) {
      if (!s_.is_complex(i)) {
        values_.push_back(s_.real(i));
        forms.push_back(Form::parts);
      } else if (!always_parts && s_.values.is_computed_joined(s_.e.operand(i))) {
        values_.push_back(s_.joined(i));
        forms.push_back(Form::joined);
      } else {
        const Parts parts = s_.parts(i);
        values_.push_back(parts.re);
        values_.push_back(parts.im);
        forms.push_back(Form::parts);
      }
    }
    return values_.size() - before;
  }

  const ValueList& values() const { return values_; }

 private:
  const ComplexEquation& s_;
  ValueList values_;
};

/// The results of `e` in parts.
void set_results(const ComplexEquation& s, const Equation& e) {
  size_t next = 0;
  for (const Value v : s.e.results()) {
    if (s.values.is_complex(v)) {
      s.values.set_parts(v, {e.result(next), e.result(next + 1)});
      next += 2;
    } else {
      s.values.set_real(v, e.result(next++));
    }
  }
}

int64_t signed_size(size_t n) { return static_cast<int64_t>(n); }

void split_branches(const ComplexEquation& s) {
  std::vector<Form> forms;
  Operands operands(s);
  std::vector<Form> selector;
  operands.append(0, 1, true, selector);
  operands.append(1, s.e.operands().size() - 1, false, forms);
  std::vector<Graph> branches;
  for (const Graph& g : s.e.subgraphs()) branches.push_back(split_subgraph(g, forms, Form::parts));
  set_results(s, s.w.append(s.e.id(), operands.values(), s.e.attributes(), std::move(branches)));
}

void split_while(const ComplexEquation& s) {
  const WhileParts n(s.e);
  const Graph& cond = s.e.subgraphs()[0];
  // Of a loop over elements the constants are elements too.
  const bool over_elements = cond.shape(cond.outputs()[0]).rank() > 0;
  Operands operands(s);
  std::vector<Form> of_cond, of_body, carry;
  const size_t cond_consts = operands.append(0, n.cond_consts, over_elements, of_cond);
  const size_t body_consts = operands.append(n.cond_consts, n.body_consts, over_elements, of_body);
  operands.append(n.first_carry(), n.carry, true, carry);
  of_cond.insert(of_cond.end(), carry.begin(), carry.end());
  of_body.insert(of_body.end(), carry.begin(), carry.end());
  Attributes attributes = s.e.attributes();
  attributes.set("cond_consts", signed_size(cond_consts));
  attributes.set("body_consts", signed_size(body_consts));
  std::vector<Graph> graphs;
  graphs.push_back(split_subgraph(cond, of_cond, Form::parts));
  graphs.push_back(split_subgraph(s.e.subgraphs()[1], of_body, Form::parts));
  set_results(s, s.w.append(id_of<While>, operands.values(), std::move(attributes), std::move(graphs)));
}

void split_scan(const ComplexEquation& s) {
  const ScanParts n(s.e);
  Operands operands(s);
  std::vector<Form> forms;
  const size_t consts = operands.append(0, n.consts, false, forms);
  const size_t carry = operands.append(n.consts, n.carry, true, forms);
  operands.append(n.first_x(), n.xs, false, forms);
  Attributes attributes = s.e.attributes();
  attributes.set("consts", signed_size(consts));
  attributes.set("carry", signed_size(carry));
  std::vector<Graph> bodies;
  bodies.push_back(split_subgraph(s.e.subgraphs()[0], forms, Form::parts));
  set_results(s, s.w.append(id_of<Scan>, operands.values(), std::move(attributes), std::move(bodies)));
}

}  // namespace

bool split_control(const ComplexEquation& s) {
  switch (s.e.id()) {
    case id_of<Cond>:
    case id_of<Switch>:
      split_branches(s);
      return true;
    case id_of<While>:
      split_while(s);
      return true;
    case id_of<Scan>:
      split_scan(s);
      return true;
    default:
      return false;
  }
}

}  // namespace calque::transform
