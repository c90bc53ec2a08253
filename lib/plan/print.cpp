// The text of a plan: the graph's equations, annotated, then what they become.
#include "ir/text/print.h"

#include <ostream>

#include "plan/plan.h"

namespace calque::plan {
namespace {

class PlanPrinter {
 public:
  PlanPrinter(std::ostream& out, const PlannedGraph& planned)
      : out_(out), g_(planned.graph()), plan_(planned.plan()), numbers_(planned.graph()) {}

  void print() {
    out_ << "plan " << (g_.name().empty() ? "graph" : g_.name()) << " {\n";
    for (const Equation& e : g_.equations()) {
      out_ << "  " << text::equation_text(g_, numbers_, e);
      for (const Value v : e.results()) memory(v);
      out_ << '\n';
    }
    for (size_t i = 0; i < plan_.groups.size(); ++i) group(i);
    for (const Step& step : plan_.steps) {
      if (step.group >= 0) {
        out_ << "  step: group " << step.group << '\n';
      } else {
        out_ << "  step: " << step.equation->primitive() << '\n';
      }
    }
    for (const std::string& remark : plan_.remarks) out_ << "  not fused: " << remark << '\n';
    out_ << "}\n";
  }

 private:
  template <class Values>
  void values(const Values& list) {
    const char* separator = "";
    for (const Value v : list) {
      out_ << separator << numbers_.text(v);
      separator = ", ";
    }
  }
  void memory(Value v) {
    if (const Value whole = plan_.values.shared_buffer(v); whole.valid()) {
      out_ << "  // " << numbers_.text(v) << " in the memory of " << numbers_.text(whole);
    } else if (plan_.values.is_materialized(v)) {
      out_ << "  // " << numbers_.text(v) << " materialized";
    }
  }
  void group(size_t i) {
    const FusionGroup& group = plan_.groups[i];
    out_ << "  group " << i << " over " << to_string(group.space) << ": ";
    values(group.roots);
    if (group.anchor != nullptr) out_ << ", anchor " << group.anchor->primitive();
    out_ << '\n';
  }

  std::ostream& out_;
  const Graph& g_;
  const Plan& plan_;
  text::ValueNumbers numbers_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const PlannedGraph& planned) {
  PlanPrinter(out, planned).print();
  for (const Equation& e : planned.graph().equations())
    for (const PlannedGraph& inner : planned.subgraphs(e)) out << inner;
  return out;
}

}  // namespace calque::plan
