// A graph is data: print it, parse it, walk it, edit it, run it, observe it run.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <calque/calque.h>

namespace cq = calque;

/// Runs a graph equation by equation and records the largest absolute value computed by each primitive.
struct Watch : cq::Interpreter {
  std::map<std::string, int> count;
  std::vector<cq::AnyArray> equation(const cq::Equation& e, const std::vector<cq::AnyArray>& operands) override {
    ++count[e.primitive()];
    return cq::Interpreter::equation(e, operands);
  }
};

int main() {
  auto f = cq::jit([](auto x) { return exp(-x * x) + sin(x); });
  const cq::Array<double> x = {0.0, 0.5, 1.0};
  cq::Graph graph = f.trace(x);

  // The text form is complete.
  std::cout << graph;
  bool right = cq::parse(cq::print(graph)) == graph;

  // Every sine becomes a hyperbolic tangent.
  std::vector<const cq::Equation*> sines;
  for (const cq::Equation& e : graph.equations()) {
    if (e.primitive() == "sin") sines.push_back(&e);
  }
  for (const cq::Equation* e : sines) {
    const cq::Value replacement = graph.insert_after(*e, "tanh", {e->operand(0)});
    graph.replace_all_uses(e->result(), replacement);
    graph.erase(*e);
  }
  graph.verify();
  std::cout << "edited:\n";
  graph.print_tabular(std::cout);

  // An edited graph is compiled as a lambda is.
  const cq::Array<double> y = cq::jit(graph)(x)[0].as<double>();
  right &= cq::allclose(y, exp(-x * x) + tanh(x), 1e-14);

  Watch watch;
  const cq::Array<double> watched = watch.run(graph, {x})[0].as<double>();
  for (const auto& [primitive, times] : watch.count) std::cout << primitive << ": " << times << '\n';
  right &= cq::allclose(watched, y, 1e-14) && watch.count.at("tanh") == 1 && !watch.count.contains("sin");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
