// One line per equation, columns as wide as their widest entry, equations of sub-graphs indented below the parent.
#include <array>
#include <ostream>

#include "calque/ir/graph.h"

#include "ir/text/print.h"

namespace calque {
namespace {

constexpr size_t kColumns = 6;
constexpr size_t kWidest = 60;
using Row = std::array<std::string, kColumns>;

std::string truncated(std::string text) {
  if (text.size() <= kWidest) return text;
  text.resize(kWidest - 3);
  return text + "...";
}

template <class Values>
std::string list(const text::ValueNumbers& numbers, const Values& values) {
  std::string out;
  for (const Value v : values) {
    if (!out.empty()) out += ", ";
    numbers.append(out, v);
  }
  return out;
}

template <class Values>
std::string types(const Graph& graph, const Values& values) {
  std::string out;
  for (const Value v : values) {
    if (!out.empty()) out += ", ";
    out += to_string(graph.type(v));
  }
  return out;
}

void add_rows(std::vector<Row>& rows, const Graph& graph, const std::string& indent) {
  const text::ValueNumbers numbers(graph);
  if (!graph.inputs().empty()) {
    rows.push_back({indent + list(numbers, graph.inputs()), types(graph, graph.inputs()), "(inputs)", "", "", ""});
  }
  for (const Equation& e : graph.equations()) {
    std::string attributes;
    text::append_attributes(attributes, e.attributes());
    rows.push_back({indent + list(numbers, e.results()), types(graph, e.results()), e.primitive(),
                    list(numbers, e.operands()), attributes, to_string(e.location())});
    for (const Graph& g : e.subgraphs()) add_rows(rows, g, indent + "  ");
  }
  rows.push_back({indent + list(numbers, graph.outputs()), types(graph, graph.outputs()), "(outputs)", "", "", ""});
}

}  // namespace

void Graph::print_tabular(std::ostream& out) const {
  std::vector<Row> rows = {{"result", "type", "primitive", "operands", "attributes", "location"}};
  add_rows(rows, *this, "");
  std::array<size_t, kColumns> widths{};
  for (Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) {
      row[i] = truncated(std::move(row[i]));
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < kColumns; ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace calque
