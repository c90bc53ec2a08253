// For any bytes, parse either throws ParseError or returns a graph that verifies, round-trips through text, keeps its
// meaning under every pass and evaluates within bounds.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "calque/ir/graph.h"

#include "reference/evaluate.h"
#include "support/same_arrays.h"
#include "transform/simplify/passes.h"

namespace {

void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "parse_fuzz: %s\n", what);
  std::abort();
}

int64_t elements(const calque::Graph& graph) {
  int64_t total = 0;
  for (const calque::Type& t : graph.input_types()) total += t.shape.num_elements();
  return total;
}

bool has_opaque(const calque::Graph& graph) {
  for (const calque::Equation& e : graph.equations()) {
    for (const calque::Attribute& a : e.attributes()) {
      if (std::holds_alternative<std::shared_ptr<const calque::Opaque>>(a.value)) return true;
    }
    for (const calque::Graph& sub : e.subgraphs()) {
      if (has_opaque(sub)) return true;
    }
  }
  return false;
}

void evaluate(const calque::Graph& graph) {
  constexpr int64_t kMost = 100'000;
  if (elements(graph) > kMost) return;
  std::vector<calque::AnyArray> inputs;
  for (const calque::Type& t : graph.input_types()) {
    inputs.push_back(calque::AnyArray::uninitialized(t));
    std::memset(inputs.back().mutable_data(), 1, inputs.back().bytes());
  }
  std::vector<calque::AnyArray> results;
  try {
    results = calque::reference::evaluate(graph, inputs, {.elements = kMost});
  } catch (const calque::Error&) {
    return;
  }
  const calque::Graph simplified = calque::transform::find_pass("simplify").run(graph);
  simplified.verify("simplify");
  expect(calque::test::difference(calque::reference::evaluate(simplified, inputs), results).empty(),
         "simplify changed a result");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  calque::Graph graph;
  try {
    graph = calque::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const calque::ParseError&) {
    return 0;
  }
  graph.verify("parse");
  const std::string text = calque::print(graph);
  const calque::Graph again = calque::parse(text);
  expect(print(again) == text, "the text does not read back");
  expect(has_opaque(graph) || again == graph, "the graph does not read back");
  expect(calque::canonical_hash(calque::canonicalize(graph)) == calque::canonical_hash(graph), "the hash moved");
  std::ostringstream out;
  graph.print_tabular(out);
  graph.to_dot(out);
  // debug_print writes to standard output, and a host function cannot run.
  if (text.find("debug_print") == std::string::npos && !has_opaque(graph)) evaluate(graph);
  return 0;
}
