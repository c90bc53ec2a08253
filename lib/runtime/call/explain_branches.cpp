#include "runtime/call/explain_branches.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>
#include <unordered_map>

#include "ir/text/print.h"

namespace calque::runtime {
namespace {

using detail::QuestionKind;
using detail::merged::Block;
using detail::merged::MergedTrace;
using detail::merged::Step;
using detail::merged::V;

std::string count_of(size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

std::string answer_text(const Step& step, int64_t answer) {
  if (step.question == QuestionKind::number) return std::to_string(answer);
  return answer != 0 ? "true" : "false";
}

/// Calls `visit` with every step, those of the sides of a fork after it.
template <class Visit>
void for_each_step(const Block& block, const Visit& visit) {
  for (const Step& step : block.steps) {
    visit(step);
    for (const auto& [answer, side] : step.sides) for_each_step(side, visit);
  }
}

/// Names values by the operations that make them, as far as fits into a line.
class Names {
 public:
  Names(const MergedTrace& trace, const std::vector<std::string>& arguments) : trace_(trace), arguments_(arguments) {
    for_each_step(trace.root(), [&](const Step& step) {
      if (step.kind != Step::Kind::equation) return;
      for (const V v : step.results) makers_[v] = &step;
    });
  }

  std::string operator()(V v) const { return name(v, kDepth, false); }

 private:
  static constexpr int kDepth = 3;

  /// `in_parentheses`: of an operator's operand.
  std::string name(V v, int depth, bool in_parentheses) const {
    const detail::merged::ValueInfo& info = trace_.value(v);
    if (v < trace_.num_inputs()) return v < arguments_.size() ? arguments_[v] : "input " + std::to_string(v);
    if (info.graph != nullptr) {
      if (!info.graph->is_literal(info.leaf)) return "a constant";
      const std::string text = text::ValueNumbers(*info.graph).text(info.leaf);
      return text.substr(0, text.find(':'));
    }
    const auto made = makers_.find(v);
    if (made == makers_.end()) return "what a branch gave";
    const Step& step = *made->second;
    const std::string_view primitive = step.equation->primitive();
    if (primitive == "convert" || primitive == "broadcast" || primitive == "reshape")
      return name(step.operands.front(), depth, in_parentheses);
    if (depth == 0) return std::string(primitive) + "(..)";
    static constexpr std::pair<std::string_view, std::string_view> kInfix[] = {
        {"gt", ">"},  {"lt", "<"},  {"ge", ">="}, {"le", "<="}, {"eq", "=="}, {"ne", "!="}, {"add", "+"},
        {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"and", "&"}, {"or", "|"},  {"xor", "^"}};
    for (const auto& [known, symbol] : kInfix) {
      if (known != primitive) continue;
      const std::string text = name(step.operands[0], depth - 1, true) + " " + std::string(symbol) + " " +
                               name(step.operands[1], depth - 1, true);
      return in_parentheses ? "(" + text + ")" : text;
    }
    std::string text = std::string(primitive) + "(";
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (i > 0) text += ", ";
      text += name(step.operands[i], depth - 1, false);
    }
    return text + ")";
  }

  const MergedTrace& trace_;
  const std::vector<std::string>& arguments_;
  std::unordered_map<V, const Step*> makers_;
};

/// The questions of one line of C++ about values of one kind.
struct Line {
  const Step* first = nullptr;
  std::string asked;  ///< by the first one
  size_t questions = 0, open = 0;
  std::map<int64_t, size_t> answers;  ///< questions of which they are known
};

}  // namespace

void explain_branches(std::ostream& out, const TraceTree& tree, const std::vector<std::string>& arguments,
                      const TraceLimits& limits) {
  using Key = std::pair<std::string, QuestionKind>;
  std::map<Key, Line> lines;
  std::vector<Key> order;
  size_t regions = 0;
  for (const BranchProgram* program : tree.programs()) {
    ++regions;
    const Names names(program->merged, arguments);
    for_each_step(program->merged.root(), [&](const Step& step) {
      if (step.kind == Step::Kind::equation) return;
      const Key key{to_string(step.location), step.question};
      Line& line = lines[key];
      if (line.questions++ == 0) {
        order.push_back(key);
        line.first = &step;
        line.asked = names(step.asked);
      }
      line.open += step.is_open();
      if (step.kind == Step::Kind::guard) ++line.answers[step.answer];
      for (const auto& [answer, side] : step.sides) ++line.answers[answer];
    });
  }
  const BranchInfo info = tree.info();
  out << "branches: questions at " << count_of(lines.size(), "line") << ", " << count_of(info.traces, "path") << ", "
      << count_of(info.open_exits, "open exit") << "; " << count_of(info.compilations, "compilation") << ", "
      << count_of(info.replays, "replay") << "\n";
  size_t widest_line = 0, widest_question = 0;
  for (const auto& [key, line] : lines) {
    widest_line = std::max(widest_line, key.first.size());
    widest_question = std::max(widest_question, line.asked.size());
  }
  const auto padded = [](std::string text, size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
  };
  for (const Key& key : order) {
    const Line& line = lines.at(key);
    const bool truth = line.first->question == QuestionKind::truth;
    out << "  " << padded(key.first, widest_line) << (truth ? "  bool     " : "  integer  ")
        << padded(line.asked, widest_question) << "  ";
    bool first = true;
    for (const auto& [answer, questions] : line.answers) {
      out << (first ? "" : ", ") << answer_text(*line.first, answer);
      if (line.questions > 1) out << " at " << questions;
      first = false;
    }
    if (line.questions > 1) out << " of " << line.questions << " questions";
    if (line.open > 0) {
      out << "; " << (truth ? "the other answer" : "other values");
      if (line.questions > 1) out << " at " << line.open;
      out << (truth ? " leads" : " lead") << " out of this code";
    }
    out << "\n";
  }
  if (regions > 1) out << "  " << regions << " functions, whose results differ in type or shape\n";
  if (info.traces >= static_cast<size_t>(std::max(1, limits.traces))) {
    out << "  the limit of " << count_of(info.traces, "path") << " is reached: calls along others run the lambda\n";
  }
  for (const Key& key : order) {
    const Line& line = lines.at(key);
    if (line.first->question == QuestionKind::truth ||
        line.answers.size() < static_cast<size_t>(std::max(1, limits.values))) {
      continue;
    }
    out << "  the limit of " << count_of(line.answers.size(), "value") << " is reached at " << key.first
        << ": calls with others run the lambda\n";
  }
}

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

class Drawing {
 public:
  Drawing(std::ostream& out, const Names& names, size_t region)
      : out_(out), names_(names), prefix_("r" + std::to_string(region) + "_") {}

  void draw(const Block& root) {
    Ends ends{{node("call", "ellipse"), ""}};
    ends = block(root, std::move(ends));
    join(ends, node("result", "ellipse"));
  }

 private:
  /// Edges that have no head yet: their tails and labels.
  using Ends = std::vector<std::pair<std::string, std::string>>;

  std::string node(const std::string& label, const char* shape) {
    const std::string id = prefix_ + std::to_string(next_++);
    out_ << "  " << id << " [label=\"" << label << "\", shape=" << shape << "];\n";
    return id;
  }
  void join(const Ends& ends, const std::string& head) {
    for (const auto& [tail, label] : ends) {
      out_ << "  " << tail << " -> " << head;
      if (!label.empty()) out_ << " [label=\"" << label << "\"]";
      out_ << ";\n";
    }
  }
  Ends block(const Block& b, Ends ends) {
    size_t equations = 0;
    const auto flush = [&] {
      if (equations == 0) return;
      const std::string id = node(count_of(std::exchange(equations, 0), "operation"), "box");
      join(ends, id);
      ends = {{id, ""}};
    };
    for (const Step& step : b.steps) {
      if (step.kind == Step::Kind::equation) {
        ++equations;
        continue;
      }
      flush();
      const std::string label = escaped(to_string(step.location)) + "\\n" + escaped(names_(step.asked));
      const std::string question = node(label, "hexagon");
      join(ends, question);
      ends.clear();
      if (step.is_open()) {
        const std::string exit = node("exit " + std::to_string(step.exit), "plaintext");
        const std::string other =
            step.question == QuestionKind::number ? "others" : answer_text(step, step.answer == 0);
        out_ << "  " << question << " -> " << exit << " [label=\"" << other << "\", style=dashed];\n";
      }
      if (step.kind == Step::Kind::guard) ends = {{question, answer_text(step, step.answer)}};
      for (const auto& [answer, side] : step.sides) {
        Ends of_side = block(side, {{question, answer_text(step, answer)}});
        std::ranges::move(of_side, std::back_inserter(ends));
      }
    }
    flush();
    return ends;
  }

  std::ostream& out_;
  const Names& names_;
  const std::string prefix_;
  size_t next_ = 0;
};

}  // namespace

std::string branches_dot(const TraceTree& tree, const std::vector<std::string>& arguments, const std::string& title) {
  std::ostringstream out;
  out << "digraph branches {\n  label=\"" << escaped(title) << "\";\n  node [fontname=\"monospace\"];\n";
  size_t region = 0;
  for (const BranchProgram* program : tree.programs()) {
    const Names names(program->merged, arguments);
    Drawing(out, names, region++).draw(program->merged.root());
  }
  out << "}\n";
  return out.str();
}

}  // namespace calque::runtime
