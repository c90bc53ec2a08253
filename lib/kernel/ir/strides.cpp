#include "kernel/ir/strides.h"

#include <algorithm>

#include "kernel/ir/walk.h"
#include "primitives/elementwise/arithmetic.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

Strides::Strides(const Kernel& kernel) : defined_(kernel.values.size(), nullptr) {
  walk(kernel.body, [&](const Instruction& i) {
    for (const Id r : i.results) defined_[static_cast<size_t>(r)] = &i;
  });
}

std::optional<int64_t> Strides::Along::operator()(Id id) {
  if (id == variable_) return 1;
  if (const auto at = known_.find(id); at != known_.end()) return at->second;
  // Parameters of other loops do not change.
  const Instruction* definition = defined_[static_cast<size_t>(id)];
  const std::optional<int64_t> stride = definition ? compute(*definition) : 0;
  known_.emplace(id, stride);
  return stride;
}

std::optional<int64_t> Strides::Along::compute(const Instruction& i) {
  if (!i.regions.empty()) return std::nullopt;
  if (i.op == Op::scalar && (i.primitive == id_of<Add> || i.primitive == id_of<Sub>)) {
    const auto a = (*this)(i.operands[0]), b = (*this)(i.operands[1]);
    if (!a || !b) return std::nullopt;
    return i.primitive == id_of<Add> ? *a + *b : *a - *b;
  }
  const bool fixed = std::all_of(i.operands.begin(), i.operands.end(), [&](Id o) { return (*this)(o) == 0; });
  if (fixed) return 0;
  if (i.op != Op::scalar || i.primitive != id_of<Mul>) return std::nullopt;
  const Instruction* factor = defined_[static_cast<size_t>(i.operands[1])];
  if (!factor || factor->op != Op::constant) return std::nullopt;
  const auto a = (*this)(i.operands[0]);
  return a ? std::optional(*a * factor->literal.as<int64_t>()) : std::nullopt;
}

Strides::Accesses Strides::accesses(const Region& region, Id variable) const {
  Accesses all;
  Along stride = along(variable);
  walk(region, [&](const Instruction& i) {
    if (!is_load(i) && !is_store(i)) return;
    const auto s = stride(i.operands[0]);
    ++(!s ? all.other : *s == 0 ? all.fixed : *s == 1 || *s == -1 ? all.unit : all.other);
  });
  return all;
}

}  // namespace calque::kernel
