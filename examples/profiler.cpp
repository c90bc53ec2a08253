// A recording profiler, made with the public graph-editing interface only: an equation before and one after each
// equation, also inside loops and branches, call back into C++ and record name and time.
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>

namespace cq = calque;

// ---- the profiler

/// The begin or end of an equation of this primitive.
struct Event {
  std::string primitive;
  bool begins;
  std::chrono::steady_clock::time_point time;
};

/// Records one event whenever it is called.
struct RecordEvent final : cq::HostFunction {
  RecordEvent(std::vector<Event>& events, std::string primitive, bool begins)
      : events(&events), primitive(std::move(primitive)), begins(begins) {}
  std::string label() const override { return (begins ? "begin " : "end ") + primitive; }
  std::vector<cq::AnyArray> call(std::span<const cq::AnyArray>) const override {
    events->push_back({primitive, begins, std::chrono::steady_clock::now()});
    return {};
  }
  std::vector<Event>* events;
  std::string primitive;
  bool begins;
};

/// Inserts the recording equations. Effects keep their order, and the second one takes the results, so the profiled
/// equation runs in between.
void profile(cq::Graph& graph, std::vector<Event>& events) {
  std::vector<cq::Equation*> equations;
  for (cq::Equation& e : graph.equations()) equations.push_back(&e);
  for (cq::Equation* e : equations) {
    for (cq::Graph& inner : e->subgraphs()) profile(inner, events);
    const auto record = [&](bool begins) -> cq::Attributes {
      const std::shared_ptr<const cq::Opaque> function = std::make_shared<RecordEvent>(events, e->primitive(), begins);
      return {{"function", function}, {"results", std::vector<cq::Type>()}};
    };
    graph.insert_before(*e, "host_call", {}, record(true));
    graph.insert_after(*e, "host_call", {e->results().begin(), e->results().end()}, record(false));
  }
}

// ---- usage

/// The number of runs of each primitive, and the microseconds spent in it, including nested equations. Empty unless
/// every end event matches the preceding begin.
std::map<std::string, std::pair<int, double>> summary(const std::vector<Event>& events) {
  std::map<std::string, std::pair<int, double>> spent;
  std::vector<const Event*> open;
  for (const Event& event : events) {
    if (event.begins) {
      open.push_back(&event);
      continue;
    }
    if (open.empty() || open.back()->primitive != event.primitive) return {};
    auto& [times, microseconds] = spent[event.primitive];
    ++times;
    microseconds += std::chrono::duration<double, std::micro>(event.time - open.back()->time).count();
    open.pop_back();
  }
  return open.empty() ? spent : std::map<std::string, std::pair<int, double>>();
}

/// Runs a graph under the profiler and prints the summary. True if the results equal those without the profiler.
bool run_profiled(const std::string& title, cq::Graph graph, const cq::Array<double>& x,
                  std::map<std::string, std::pair<int, double>>& spent) {
  const cq::Array<double> expected = cq::jit(graph)(x)[0].as<double>();
  std::vector<Event> events;
  profile(graph, events);
  graph.verify();
  const cq::Array<double> y = cq::jit(graph)(x)[0].as<double>();
  spent = summary(events);
  std::cout << title << ":\n" << std::fixed << std::setprecision(1);
  for (const auto& [primitive, cost] : spent) {
    std::cout << std::setw(20) << primitive << std::setw(6) << cost.first << " times" << std::setw(10) << cost.second
              << " us\n";
  }
  return !spent.empty() && cq::allclose(y, expected, 1e-12);
}

int main() {
  // A scan over the elements, with a branch in its body.
  const auto f = [](auto x) {
    auto [last, all] = cq::scan(
        [](auto carry, auto element) {
          auto next = cq::cond(
              element > 0, [](auto c, auto e) { return c + sin(e); }, [](auto c, auto e) { return c * e; }, carry,
              element);
          return std::pair{next, next};
        },
        1.0, x);
    return last + sum(all);
  };
  const cq::Array<double> x = {0.5, -1.5, 2.0, 0.25};

  std::map<std::string, std::pair<int, double>> spent;
  bool right = run_profiled("a scan with a branch", cq::jit(f).trace(x), x, spent);
  right &= spent["scan"].first == 1 && spent["cond"].first == 4 && spent["sin"].first == 3;
  right &= run_profiled("its gradient", cq::jit(cq::grad(f)).trace(x), x, spent);
  right &= spent["scan"].first >= 1 && spent["cos"].first == 3;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
