// Calls among processes of any group.
#pragma once

#include <memory>

#include "calque/calque.h"

namespace calque::test {

/// The call among processes, on tracers and arrays.
template <class X>
X communicate(const std::shared_ptr<const ProcessGroup>& group, Collective kind, const X& x,
              ReduceOp op = ReduceOp::sum, int64_t peer = -1, int64_t source = -1, Loc loc = Loc::current()) {
  CollectiveCall call;
  call.kind = kind;
  call.op = op;
  call.peer = peer;
  call.source = source;
  call.location = loc;
  if constexpr (TracerLike<X>) {
    call.operand.dtype = dtype_of<elem_t<X>>;
    const detail::Operand operand = detail::operand_of(x, loc);
    return X(detail::ops::collective(group, call, &operand, "communicate"));
  } else {
    const AnyArray array = x.any(loc);
    return X(detail::ops::run_collective(group, call, &array, "communicate"));
  }
}

}  // namespace calque::test
