// The text of a plan: the graph, then a section that parse.cpp reads. Change both together.
#include "ir/text/print.h"

#include <array>
#include <charconv>
#include <ostream>
#include <string>

#include "ir/text/text.h"
#include "plan/planned_state.h"

namespace calque::plan {

/// Prints the section of one graph and, nested in it, those of its sub-graphs.
class PlanPrinter {
 public:
  PlanPrinter(std::string& out, const PlannedGraph& planned, int depth)
      : out_(out),
        planned_(planned),
        g_(planned.graph()),
        s_(*planned.state_),
        numbers_(planned.graph()),
        indent_(2 * static_cast<size_t>(depth), ' ') {}

  /// The inputs of the outermost graph: those of sub-graphs follow from it.
  void print_owned() {
    list("owned", [&](Value v) {
      return g_.kind(v) == ValueKind::input && g_.input_index(v) < s_.owned.size() && s_.owned[g_.input_index(v)];
    });
  }

  void print() {
    list("memory", [&](Value v) { return g_.kind(v) == ValueKind::result && s_.plan.values.is_materialized(v); });
    list("required", [&](Value v) { return s_.plan.values.is_required(v); });
    for (uint32_t i = 0; i < g_.num_values(); ++i)
      if (const Value whole = s_.plan.values.shared_buffer(Value(i)); whole.valid())
        line("shared: " + numbers_.text(Value(i)) + " in " + numbers_.text(whole));
    for (uint32_t i = 0; i < g_.num_values(); ++i)
      if (const Value operand = s_.plan.values.reused(Value(i)); operand.valid())
        line("reused: " + numbers_.text(operand) + " by " + numbers_.text(Value(i)));
    for (const KeptValue& k : s_.plan.kept) {
      std::string text = "kept: the operand of " + numbers_.text(k.result) + " ";
      text::append_quoted(text, k.reason);
      line(text);
    }
    if (s_.plan.steps.empty()) inputs_of_groups();
    for (size_t i = 0; i < s_.plan.groups.size(); ++i) group("group " + std::to_string(i), s_.plan.groups[i]);
    for (const Step& step : s_.plan.steps) {
      line("step: " + (step.group >= 0 ? "group " + std::to_string(step.group)
                                       : std::string(step.equation->primitive()) + " at " + position(*step.equation)));
    }
    for (const std::string& remark : s_.plan.remarks) {
      std::string text = "not fused: ";
      text::append_quoted(text, remark);
      line(text);
    }
    for (const Equation& e : g_.equations()) {
      const auto inner = planned_.subgraphs(e);
      for (size_t i = 0; i < inner.size(); ++i) {
        line("plan of " + position(e) + ", " + std::to_string(i) + " {");
        PlanPrinter(out_, inner[i], static_cast<int>(indent_.size() / 2) + 1).print();
        line("}");
      }
    }
  }

  /// Where the results of an equation are.
  std::string memory(const Equation& e) const {
    std::string text;
    for (const Value v : e.results()) {
      std::string where;
      if (const Value whole = s_.plan.values.shared_buffer(v); whole.valid())
        where = " in the memory of " + numbers_.text(whole);
      else if (s_.plan.values.is_materialized(v))
        where = " materialized";
      if (!where.empty()) text += (text.empty() ? "" : ", ") + numbers_.text(v) + where;
    }
    return text;
  }

 private:
  void line(const std::string& text) { out_ += indent_ + text + '\n'; }
  std::string position(const Equation& e) const { return std::to_string(s_.analysis.order.position(e)); }

  template <class Has>
  void list(const char* what, const Has& has) {
    std::string text;
    for (uint32_t i = 0; i < g_.num_values(); ++i)
      if (has(Value(i))) text += (text.empty() ? "" : ", ") + numbers_.text(Value(i));
    if (!text.empty()) line(std::string(what) + ": " + text);
  }

  /// What only the pass that forms groups reads.
  void inputs_of_groups() {
    std::string costs;
    for (uint32_t i = 0; i < s_.costs.operations.size(); ++i) {
      const double cost = s_.costs.operations[i];
      if (cost == 0 || g_.kind(Value(i)) != ValueKind::result) continue;
      std::array<char, 32> digits;
      const auto [stop, error] = std::to_chars(digits.data(), digits.data() + digits.size(), cost);
      costs += (costs.empty() ? "" : ", ") + numbers_.text(Value(i)) + " " + std::string(digits.data(), stop);
    }
    if (!costs.empty()) line("costs: " + costs);
    for (const SplitPoint& point : s_.split_points)
      line("split at " + std::to_string(point.position) + " over " + extents(point.space));
    for (const FusionGroup& product : s_.products.groups) group("product", product);
  }

  static std::string extents(const Extents& list) {
    std::string text = "[";
    for (const int64_t n : list) text += (text.size() == 1 ? "" : ",") + std::to_string(n);
    return text + "]";
  }

  void group(const std::string& title, const FusionGroup& group) {
    std::string text = title + " over " + to_string(group.space) + ": ";
    const char* separator = "";
    for (const Value v : group.roots) {
      text += separator + numbers_.text(v);
      separator = ", ";
    }
    if (group.anchor != nullptr)
      text += ", anchor " + std::string(group.anchor->primitive()) + " at " + position(*group.anchor);
    if (!group.loops.empty()) text += ", loops " + extents(group.loops);
    if (!group.reduced.empty()) text += ", reduced " + extents(group.reduced);
    line(text);
  }

  std::string& out_;
  const PlannedGraph& planned_;
  const Graph& g_;
  const PlannedGraph::State& s_;
  text::ValueNumbers numbers_;
  const std::string indent_;
};

std::ostream& operator<<(std::ostream& out, const PlannedGraph& planned) {
  std::string section;
  PlanPrinter printer(section, planned, 1);
  printer.print_owned();
  printer.print();
  return out << text::print_with_comments(planned.graph(), [&](const Equation& e) { return printer.memory(e); })
             << "plan {\n"
             << section << "}\n";
}

}  // namespace calque::plan
