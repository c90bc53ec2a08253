#pragma once
// Index expressions and predicates over them, for lowering rules.
#include <functional>

#include "primitives/core/lowering.h"
#include "primitives/list.h"

namespace calque::primitives {

/// The index of an element, one expression for each dimension.
using Indices = calque::detail::InlineVector<Scalar, 5>;

/// A conjunction, built condition by condition; empty means true.
class Predicate {
 public:
  explicit Predicate(Lowering& l) : l_(l) {}

  void at_least(Scalar x, int64_t bound) { add(l_.op(id_of<Ge>, DType::bool_, {x, l_.index(bound)})); }
  void at_most(Scalar x, int64_t bound) { add(l_.op(id_of<Le>, DType::bool_, {x, l_.index(bound)})); }
  void equal(Scalar x, int64_t value) { add(l_.op(id_of<Eq>, DType::bool_, {x, l_.index(value)})); }
  void at_least(Scalar x, Scalar bound) { add(l_.op(id_of<Ge>, DType::bool_, {x, bound})); }
  void less(Scalar x, Scalar bound) { add(l_.op(id_of<Lt>, DType::bool_, {x, bound})); }

  /// `inside()` where the predicate holds, else `otherwise`.
  Scalar guard(const std::function<Scalar()>& inside, Scalar otherwise) const {
    return empty_ ? inside() : l_.guarded(all_, inside, otherwise);
  }

 private:
  void add(Scalar term) {
    all_ = empty_ ? term : l_.op(id_of<And>, DType::bool_, {all_, term});
    empty_ = false;
  }
  Lowering& l_;
  Scalar all_;
  bool empty_ = true;
};

}  // namespace calque::primitives
