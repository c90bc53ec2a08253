// Graphviz output: a box per equation, an ellipse per input, output and constant; literals are printed in the boxes.
#include <ostream>

#include "calque/ir/graph.h"

#include "ir/text/print.h"

namespace calque {
namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

class Drawing {
 public:
  explicit Drawing(std::ostream& out) : out_(out) {}

  void draw(const Graph& graph) {
    out_ << "digraph calque {\n  node [shape=box, fontname=\"monospace\"];\n";
    body(graph, 1);
    out_ << "}\n";
  }

 private:
  std::string indent(size_t depth) const { return std::string(2 * depth, ' '); }

  void node(size_t depth, const std::string& id, const std::string& label, const char* shape) {
    out_ << indent(depth) << id << " [label=\"" << escape(label) << '"';
    if (shape != nullptr) out_ << ", shape=" << shape;
    out_ << "];\n";
  }

  /// The nodes and edges of one graph.
  void body(const Graph& g, size_t depth) {
    const std::string prefix = "g" + std::to_string(next_++) + "_";
    const text::ValueNumbers numbers(g);
    std::vector<std::string> source(g.num_values());
    for (const Value v : g.inputs()) {
      source[v.id()] = prefix + "in" + std::to_string(g.input_index(v));
      node(depth, source[v.id()], numbers.text(v) + ": " + to_string(g.type(v)), "ellipse");
    }
    const auto use = [&](Value v, const std::string& to) {
      if (g.is_literal(v)) return;
      if (source[v.id()].empty()) {  // a constant
        source[v.id()] = prefix + "c" + std::to_string(v.id());
        node(depth, source[v.id()], numbers.text(v) + ": " + to_string(g.type(v)), "ellipse");
      }
      out_ << indent(depth) << source[v.id()] << " -> " << to << ";\n";
    };
    size_t index = 0;
    for (const Equation& e : g.equations()) {
      const std::string id = prefix + "e" + std::to_string(index++);
      node(depth, id, text::equation_text(g, numbers, e), nullptr);
      for (const Value v : e.operands()) use(v, id);
      for (const Value v : e.results()) source[v.id()] = id;
      for (size_t i = 0; i < e.subgraphs().size(); ++i) subgraph(e.subgraphs()[i], depth, id, i);
    }
    for (size_t i = 0; i < g.outputs().size(); ++i) {
      const std::string id = prefix + "out" + std::to_string(i);
      const Value v = g.outputs()[i];
      node(depth, id, "output " + std::to_string(i) + ": " + numbers.text(v), "ellipse");
      use(v, id);
    }
  }

  void subgraph(const Graph& g, size_t depth, const std::string& owner, size_t position) {
    out_ << indent(depth) << "subgraph cluster_" << next_ << " {\n";
    out_ << indent(depth + 1) << "label=\""
         << escape(g.name().empty() ? "sub-graph " + std::to_string(position) : g.name()) << "\";\n";
    const std::string anchor = "g" + std::to_string(next_) + "_anchor";
    out_ << indent(depth + 1) << anchor << " [shape=point];\n";
    body(g, depth + 1);
    out_ << indent(depth) << "}\n";
    out_ << indent(depth) << owner << " -> " << anchor << " [style=dashed];\n";
  }

  std::ostream& out_;
  size_t next_ = 0;
};

}  // namespace

void Graph::to_dot(std::ostream& out) const { Drawing(out).draw(*this); }

}  // namespace calque
