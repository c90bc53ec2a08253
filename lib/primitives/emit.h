#pragma once
// The parts of rules' contexts that need the list of all primitives.
#include "primitives/list.h"
#include "primitives/transformation.h"

namespace calque::primitives {

template <class P>
Value RuleSite::emit(ValueList operands, Attributes attributes) const {
  return writer.emit(id_of<P>, std::move(operands), std::move(attributes));
}

}  // namespace calque::primitives
