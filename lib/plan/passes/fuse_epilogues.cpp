// What is computed of a tiled product's elements while they are in registers, so that neither a bias nor an activation
// costs a pass through memory.
#include <algorithm>
#include <string>
#include <utility>

#include "plan/passes/epilogues.h"
#include "plan/passes/passes.h"
#include "primitives/registry.h"

namespace calque::plan {

using namespace primitives;

namespace {

/// Records why users of a product read its result from memory.
void remark_users(const GraphAnalysis& a, const MaterializedValues& values, const Equation& product,
                  const Epilogue& epilogue, Remarks& remarks) {
  const auto& roots = epilogue.roots;
  const auto is_fused = [&](Value v) {
    return values.is_inlined(v) || std::find(roots.begin(), roots.end(), v) != roots.end();
  };
  for (const Equation* user : a.users(product.result())) {
    const FusionKind kind = a.kind(*user);
    const std::string what = user->primitive() + " is not computed with " + product.primitive() + ": ";
    if (kind == FusionKind::reduction || rules(user->id()).anchor == Anchor::cumulative) {
      remarks.add(what + "it works across elements, which are computed tile by tile");
    } else if (kind == FusionKind::contraction) {
      remarks.add(what + "products do not fuse with products");
    } else if (kind == FusionKind::view && user->id() != id_of<Reshape>) {
      remarks.add(what + "it moves elements");
    } else if (kind != FusionKind::elementwise && kind != FusionKind::view) {
      remarks.add(what + "it runs by itself");
    } else if (std::none_of(user->results().begin(), user->results().end(), is_fused)) {
      remarks.add(what + "it needs values that are computed later, or there are too many results");
    }
  }
}

}  // namespace

ProductKernels fuse_epilogues(const GraphAnalysis& a, MaterializedValues& values, Remarks& remarks) {
  ProductKernels products;
  std::vector<bool> claimed(a.graph.num_values(), false);
  for (size_t i = 0; i < a.order.size(); ++i) {
    const Equation& e = a.order[i];
    if (a.order.kind(i) != FusionKind::contraction || a.product(e) == Product::dot_products ||
        values.shared_buffer(e.result()).valid())
      continue;
    const Epilogue epilogue = find_epilogue(a, values, e, claimed);
    for (const Value v : epilogue.roots) claimed[v.id()] = true;
    FusionGroup group{a.graph.shape(e.result()), epilogue.roots, &e};
    if (epilogue.result_materialized) {
      group.roots.insert(group.roots.begin(), e.result());
      remark_users(a, values, e, epilogue, remarks);
    } else {
      values.make_inlined(e.result());
    }
    for (const Value v : group.roots) products.group_of_root[v.id()] = products.groups.size();
    products.groups.push_back(std::move(group));
  }
  return products;
}

}  // namespace calque::plan
