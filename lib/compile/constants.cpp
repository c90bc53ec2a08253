#include "compile/constants.h"

#include <algorithm>

#include <xxhash.h>

namespace calque::runtime {
namespace {

constexpr size_t kMaxLiteralBytes = 64;

/// Large constants without duplicates, in the order of their first use.
std::vector<Value> large_constants(const Graph& graph) {
  std::vector<Value> found;
  std::vector<bool> seen(graph.num_values());
  const auto visit = [&](Value v) {
    if (graph.kind(v) != ValueKind::constant || seen[v.id()]) return;
    seen[v.id()] = true;
    if (graph.constant(v).bytes() > kMaxLiteralBytes) found.push_back(v);
  };
  for (const Equation& e : graph.equations()) {
    for (Value v : e.operands()) visit(v);
  }
  for (Value v : graph.outputs()) visit(v);
  return found;
}

void collect(const Graph& graph, std::vector<ContentHash>& hashes) {
  for (Value v : large_constants(graph)) {
    const AnyArray& array = graph.constant(v);
    hashes.push_back(array.storage().content_hash(array.bytes()));
  }
  for (const Equation& e : graph.equations()) {
    for (const Graph& inner : e.subgraphs()) collect(inner, hashes);
  }
}

}  // namespace

GraphHash large_constants_hash(const Graph& graph) {
  std::vector<ContentHash> hashes;
  collect(graph, hashes);
  const XXH128_hash_t hash = XXH3_128bits(hashes.data(), hashes.size() * sizeof(ContentHash));
  return {hash.low64, hash.high64};
}

}  // namespace calque::runtime
