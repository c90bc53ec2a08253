// A recording profiler, made with nothing but the public interface that edits graphs: an equation before and one after
// each equation, also inside loops and branches, call back into C++ and note name and time.
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

/// That an equation of this primitive began or ended.
struct Event {
  std::string primitive;
  bool begins;
  std::chrono::steady_clock::time_point time;
};

/// Notes one event whenever it is called.
struct Note final : cq::HostFunction {
  Note(std::vector<Event>& events, std::string primitive, bool begins)
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

/// Adds the notes. Effects keep their order, and the second note takes the results: so the equation runs in between.
void profile(cq::Graph& graph, std::vector<Event>& events) {
  std::vector<cq::Equation*> equations;
  for (cq::Equation& e : graph.equations()) equations.push_back(&e);
  for (cq::Equation* e : equations) {
    for (cq::Graph& inner : e->subgraphs()) profile(inner, events);
    const auto note = [&](bool begins) -> cq::Attributes {
      const std::shared_ptr<const cq::Opaque> function = std::make_shared<Note>(events, e->primitive(), begins);
      return {{"function", function}, {"results", std::vector<cq::Type>()}};
    };
    graph.insert_before(*e, "host_call", {}, note(true));
    graph.insert_after(*e, "host_call", {e->results().begin(), e->results().end()}, note(false));
  }
}

// ---- its use

/// How often each primitive ran, and the microseconds spent in it, what it calls included. Empty unless every end
/// belongs to the beginning before it.
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

/// Runs a graph under the profiler and prints what it saw. True when the results are those without it.
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
