// Which values in memory share a kernel.
#include <algorithm>
#include <map>

#include "plan/epilogues.h"
#include "plan/equations.h"
#include "plan/planner.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// More roots than this in a kernel over a large space would compete for registers and memory streams.
constexpr size_t kMaxLargeRoots = 8;
constexpr int64_t kSmallSpace = 4096;
/// Reductions of one kernel over a small space: each is a loop, and functions of very many loops compile slowly.
constexpr size_t kMaxReductions = 32;

}  // namespace

void Planner::fuse_epilogues() {
  const Surroundings around{g, order, roles, position, users, plan.in_memory, plan.shares};
  std::vector<bool> claimed(g.num_values(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    const Equation& e = *order[i];
    if (roles[i] != Role::contraction || product(e) == Product::sums || plan.shares[e.result().id()].valid()) {
      continue;
    }
    const Epilogue epilogue = find_epilogue(around, e, claimed);
    Group group{g.shape(e.result()), epilogue.roots, &e};
    for (Value v : group.roots) claimed[v.id()] = true;
    if (epilogue.result_in_memory) group.roots.insert(group.roots.begin(), e.result());
    plan.in_memory[e.result().id()] = epilogue.result_in_memory;
    for (Value v : group.roots) product_of_root[v.id()] = products.size();
    products.push_back(std::move(group));
  }
}

void Planner::form_groups() {
  // The last step whose results a value reads at its own index, and at any other index.
  std::vector<int32_t> same(g.num_values(), -1), other(g.num_values(), -1);
  std::map<std::vector<int64_t>, int32_t> open;    // space -> step of the last map kernel
  std::unordered_map<int32_t, size_t> reductions;  // by step
  std::unordered_map<size_t, int32_t> at_product;  // the step of each product
  const auto add_step = [&](Step s) {
    plan.steps.push_back(s);
    return static_cast<int32_t>(plan.steps.size()) - 1;
  };
  const auto place = [&](const std::vector<Value>& roots, int32_t at) {
    for (Value v : roots) {
      same[v.id()] = at;
      other[v.id()] = -1;
    }
  };
  // The step that computes the roots with a tiled product; it is added where the first of them is.
  const auto product_step = [&](const std::vector<Value>& roots) {
    const auto product = roots.empty() ? product_of_root.end() : product_of_root.find(roots[0].id());
    if (product == product_of_root.end()) return -1;
    const auto [at, first] = at_product.try_emplace(product->second, -1);
    if (first) {
      at->second = add_step({static_cast<int32_t>(plan.groups.size()), nullptr});
      plan.groups.push_back(std::move(products[product->second]));
    }
    return at->second;
  };
  auto next_cut = cuts.begin();
  for (size_t i = 0; i < order.size(); ++i) {
    if (next_cut != cuts.end() && *next_cut == i) {
      ++next_cut;
      std::erase_if(open, [](const auto& entry) { return Shape(entry.first).num_elements() == 1; });
    }
    const Equation& e = *order[i];
    int32_t s = -1, o = -1;
    for (Value v : e.operands()) {
      const bool aligned = roles[i] == Role::elementwise;
      if (aligned) {
        s = std::max(s, same[v.id()]);
        o = std::max(o, other[v.id()]);
      } else {
        o = std::max({o, same[v.id()], other[v.id()]});
      }
    }
    bool any_root = e.results().empty();
    std::vector<Value> roots;
    for (Value v : e.results()) {
      same[v.id()] = s;
      other[v.id()] = o;
      if (!plan.in_memory[v.id()] || plan.shares[v.id()].valid()) continue;
      any_root = true;
      roots.push_back(v);
    }
    if (!any_root) continue;
    int32_t at = -1;
    if (at = product_step(roots); at >= 0) {
      place(roots, at);
      continue;
    }
    switch (roles[i]) {
      case Role::elementwise:
      case Role::view:
      case Role::reduction: {
        const Shape& space = g.shape(e.result());
        const std::vector<int64_t> key(space.begin(), space.end());
        const auto it = open.find(key);
        if (it != open.end() && it->second >= s && it->second > o) {
          Group& group = plan.groups[static_cast<size_t>(plan.steps[static_cast<size_t>(it->second)].group)];
          size_t& loops = reductions[it->second];
          if (roles[i] == Role::reduction && ++loops > kMaxReductions) {
            // A kernel of its own, which the next ones may join.
          } else if (space.num_elements() <= kSmallSpace || group.roots.size() < kMaxLargeRoots) {
            group.roots.insert(group.roots.end(), roots.begin(), roots.end());
            at = it->second;
          }
        }
        if (at < 0) {
          plan.groups.push_back({space, roots, nullptr});
          at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
          open[key] = at;
        }
        break;
      }
      case Role::contraction:
        plan.groups.push_back({g.shape(e.result()), {e.result()}, nullptr});
        at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
        break;
      case Role::cumulative:
      case Role::scatter:
        plan.groups.push_back({g.shape(e.result()), {e.result()}, &e});
        at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
        break;
      case Role::loop:
        if (e.id() == id_of<Scan> && runs_per_element(g, e)) {
          const Graph& body = e.subgraphs().back();
          plan.groups.push_back({body.shape(body.outputs()[0]), {e.results().begin(), e.results().end()}, &e});
          at = add_step({static_cast<int32_t>(plan.groups.size()) - 1, nullptr});
          break;
        }
        [[fallthrough]];
      case Role::branch:
      case Role::effect:
        at = add_step({-1, &e});
        break;
    }
    place(roots, at);
  }
}

}  // namespace calque::plan
