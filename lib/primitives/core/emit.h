#pragma once
// Members of the rule contexts that depend on the list of all primitives.
#include "primitives/core/transformation.h"
#include "primitives/list.h"

namespace calque::primitives {

template <class P>
Value RuleSite::emit(ValueList operands, Attributes attributes) const {
  return writer.emit(id_of<P>, std::move(operands), std::move(attributes));
}

}  // namespace calque::primitives
