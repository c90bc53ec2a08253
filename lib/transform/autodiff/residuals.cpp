// Every value is a pair of nodes connected by an edge whose capacity is the value's bytes; edges of unbounded capacity
// lead from its operands. The values to keep are a minimum cut between values that are not rematerializable and the
// wanted values. Flow: Dinic's algorithm (E. A. Dinitz, "Algorithm for solution of a problem of maximum flow in
// networks", 1970).
#include "transform/autodiff/residuals.h"

#include <algorithm>
#include <limits>

#include "ir/values/bytes.h"
#include "primitives/registry.h"

namespace calque::transform {
namespace {

using namespace primitives;

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max() / 4;

class Network {
 public:
  explicit Network(size_t nodes) : first_(nodes, kNone), level_(nodes), next_(nodes) {}

  void edge(uint32_t from, uint32_t to, int64_t capacity) {
    add(from, to, capacity);
    add(to, from, 0);
  }

  void maximize(uint32_t source, uint32_t sink) {
    while (find_levels(source, sink)) {
      next_ = first_;
      while (push(source, sink)) {
      }
    }
  }

  /// After `maximize`: the nodes from which the sink can still be reached.
  std::vector<bool> reaching(uint32_t sink) const {
    std::vector<bool> reaches(first_.size());
    std::vector<uint32_t> queue{sink};
    reaches[sink] = true;
    while (!queue.empty()) {
      const uint32_t node = queue.back();
      queue.pop_back();
      for (uint32_t e = first_[node]; e != kNone; e = edges_[e].next) {
        const uint32_t from = edges_[e].to;
        if (reaches[from] || edges_[e ^ 1].capacity == 0) continue;
        reaches[from] = true;
        queue.push_back(from);
      }
    }
    return reaches;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Edge {
    uint32_t to, next;
    int64_t capacity;
  };

  void add(uint32_t from, uint32_t to, int64_t capacity) {
    edges_.push_back({to, first_[from], capacity});
    first_[from] = static_cast<uint32_t>(edges_.size() - 1);
  }

  bool find_levels(uint32_t source, uint32_t sink) {
    std::fill(level_.begin(), level_.end(), -1);
    std::vector<uint32_t> queue{source};
    level_[source] = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      for (uint32_t e = first_[queue[i]]; e != kNone; e = edges_[e].next) {
        if (edges_[e].capacity == 0 || level_[edges_[e].to] >= 0) continue;
        level_[edges_[e].to] = level_[queue[i]] + 1;
        queue.push_back(edges_[e].to);
      }
    }
    return level_[sink] >= 0;
  }

  /// Sends flow along one path of increasing levels, if there is one. Iterative, since paths can be as long as the
  /// graph is deep.
  bool push(uint32_t source, uint32_t sink) {
    std::vector<uint32_t> path;
    uint32_t node = source;
    while (node != sink) {
      uint32_t& e = next_[node];
      while (e != kNone && (edges_[e].capacity == 0 || level_[edges_[e].to] != level_[node] + 1)) e = edges_[e].next;
      if (e != kNone) {
        path.push_back(e);
        node = edges_[e].to;
        continue;
      }
      if (path.empty()) return false;
      level_[node] = -1;  // dead end
      node = edges_[path.back() ^ 1].to;
      path.pop_back();
    }
    int64_t flow = kUnbounded;
    for (const uint32_t e : path) flow = std::min(flow, edges_[e].capacity);
    for (const uint32_t e : path) {
      edges_[e].capacity -= flow;
      edges_[e ^ 1].capacity += flow;
    }
    return true;
  }

  std::vector<uint32_t> first_;
  std::vector<Edge> edges_;
  std::vector<int> level_;
  std::vector<uint32_t> next_;
};

bool is_rematerializable(const Graph& graph, const Equation& e) {
  if (e.definition().has_effect || e.results().size() != 1 || !e.subgraphs().empty()) return false;
  if (e.id() == id_of<OptimizationBarrier>) return false;
  const LowerKind kind = lower_kind(graph, e);
  return kind == LowerKind::elementwise || kind == LowerKind::mapped;
}

}  // namespace

std::vector<bool> choose_residuals(const Graph& graph, const std::vector<bool>& wanted,
                                   const std::vector<bool>& expensive) {
  const size_t n = graph.num_values();
  const auto source = static_cast<uint32_t>(2 * n), sink = source + 1;
  Network network(2 * n + 2);
  const auto in = [](Value v) { return 2 * v.id(); };
  const auto out = [](Value v) { return 2 * v.id() + 1; };
  const auto is_free = [&](Value v) { return graph.kind(v) == ValueKind::input && !expensive[graph.input_index(v)]; };
  // Only wanted values and the values they are computed from are in the network.
  std::vector<bool> seen(n);
  std::vector<Value> work;
  for (uint32_t id = 0; id < n; ++id) {
    if (wanted[id]) {
      work.push_back(Value(id));
      seen[id] = true;
    }
  }
  for (size_t i = 0; i < work.size(); ++i) {
    const Value v = work[i];
    const ValueKind kind = graph.kind(v);
    if (kind == ValueKind::literal || kind == ValueKind::constant) continue;
    // One more than its bytes, so that of two cuts of equal size the one with fewer values wins.
    network.edge(in(v), out(v), is_free(v) ? 0 : static_cast<int64_t>(bytes_of(graph.type(v))) + 1);
    if (wanted[v.id()]) network.edge(out(v), sink, kUnbounded);
    const Equation* e = graph.definition(v);
    if (e == nullptr || !is_rematerializable(graph, *e)) {
      network.edge(source, in(v), kUnbounded);
      continue;
    }
    for (const Value operand : e->operands()) {
      const ValueKind its = graph.kind(operand);
      if (its == ValueKind::literal || its == ValueKind::constant) continue;
      network.edge(out(operand), in(v), kUnbounded);
      if (seen[operand.id()]) continue;
      seen[operand.id()] = true;
      work.push_back(operand);
    }
  }
  network.maximize(source, sink);
  const std::vector<bool> late = network.reaching(sink);
  std::vector<bool> kept(n);
  for (const Value v : work) {
    const ValueKind kind = graph.kind(v);
    if (kind == ValueKind::literal || kind == ValueKind::constant) continue;
    kept[v.id()] = late[out(v)] && !late[in(v)];
  }
  return kept;
}

}  // namespace calque::transform
