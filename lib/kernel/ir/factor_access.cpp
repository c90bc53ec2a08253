// One walk over the factor's region, with the affine form of every index.
#include "kernel/ir/factor_access.h"

#include <optional>
#include <unordered_map>

#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

/// An index as a * first parameter + b * second parameter + an invariant.
struct Affine {
  int64_t a = 0, b = 0;
  std::optional<int64_t> constant;
};

class AccessFinder {
 public:
  AccessFinder(const Kernel& kernel, const Region& region) : kernel_(kernel), region_(region) {
    constants(kernel.body);
    forms_[region.parameters[0]] = {1, 0, std::nullopt};
    forms_[region.parameters[1]] = {0, 1, std::nullopt};
  }

  FactorAccess find() {
    FactorAccess out;
    int loads = 0, others = 0;
    for (const Instruction& i : region_.instructions) {
      switch (i.op) {
        case Op::constant:
          break;
        case Op::scalar:
          if (!index(i)) ++others;
          break;
        case Op::load:
          ++loads;
          others += i.operands.size() > 1;
          load(i, out);
          break;
        case Op::yield:
          if (loads != 1 || i.operands[0] != loaded_) ++others;
          break;
        default:
          ++others;
      }
    }
    out.plain = loads == 1 && others == 0 && known_;
    return out;
  }

 private:
  void constants(const Region& r) {
    for (const Instruction& i : r.instructions) {
      if (i.op == Op::constant && kernel_.values[static_cast<size_t>(i.results[0])] == DType::i64)
        forms_[i.results[0]] = {0, 0, i.literal.as<int64_t>()};
      for (const Region& inner : i.regions) constants(inner);
    }
  }

  /// Values defined outside the region are invariant.
  std::optional<Affine> form(Id id) const {
    if (const auto at = forms_.find(id); at != forms_.end()) return at->second;
    if (inside_.count(id)) return std::nullopt;
    return Affine{};
  }

  /// Whether the instruction is arithmetic on indices.
  bool index(const Instruction& i) {
    const Id result = i.results[0];
    inside_[result] = true;
    if (kernel_.values[static_cast<size_t>(result)] != DType::i64 || i.operands.size() != 2) return false;
    const auto x = form(i.operands[0]), y = form(i.operands[1]);
    if (!x || !y) return i.primitive == id_of<Div> || i.primitive == id_of<Rem>;
    if (i.primitive == id_of<Add>) {
      forms_[result] = {x->a + y->a, x->b + y->b, std::nullopt};
    } else if (i.primitive == id_of<Sub>) {
      forms_[result] = {x->a - y->a, x->b - y->b, std::nullopt};
    } else if (i.primitive == id_of<Mul> && y->constant) {
      forms_[result] = {x->a * *y->constant, x->b * *y->constant, std::nullopt};
    } else if (x->a == 0 && x->b == 0 && y->a == 0 && y->b == 0) {
      forms_[result] = {};
    }
    return true;
  }

  void load(const Instruction& i, FactorAccess& out) {
    loaded_ = i.results[0];
    inside_[loaded_] = true;
    out.buffer = i.buffer;
    out.index = i.operands[0];
    const auto at = form(i.operands[0]);
    known_ = at.has_value();
    if (!at) return;
    out.stride[0] = at->a;
    out.stride[1] = at->b;
  }

  const Kernel& kernel_;
  const Region& region_;
  std::unordered_map<Id, Affine> forms_;
  std::unordered_map<Id, bool> inside_;
  Id loaded_ = kNone;
  bool known_ = false;
};

}  // namespace

FactorAccess access_of(const Kernel& kernel, const Region& factor) { return AccessFinder(kernel, factor).find(); }

}  // namespace calque::kernel
