#include "collectives/thread_ranks.h"

namespace calque::test {
namespace {

AnyArray one(std::string_view name, std::vector<AnyArray> operands, Attributes attributes) {
  return reference::evaluate_primitive(*find_primitive(name), operands, attributes, {})[0];
}

std::string_view reduction(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return "reduce_sum";
    case ReduceOp::prod:
      return "reduce_prod";
    case ReduceOp::max:
      return "reduce_max";
    case ReduceOp::min:
      return "reduce_min";
    case ReduceOp::all:
      return "reduce_and";
    default:
      return "reduce_or";
  }
}

}  // namespace

AnyArray ThreadRank::result_of(const CollectiveCall& call) const {
  const auto stacked = [&](int64_t ranks) {
    std::vector<AnyArray> rows;
    for (int64_t r = 0; r < ranks; ++r) {
      const AnyArray x = operand_of(r);
      rows.emplace_back(Type{x.dtype(), x.shape().with_inserted(0, 1)}, x.storage());
    }
    return one("concatenate", rows, {{"axis", int64_t{0}}});
  };
  const auto combined = [&](int64_t ranks) {
    return one(reduction(call.op), {stacked(ranks)}, {{"axes", std::vector<int64_t>{0}}});
  };
  const auto row = [&](const AnyArray& x, int64_t r) {
    const Type type{x.dtype(), x.shape().without(0)};
    AnyArray out = AnyArray::uninitialized(type);
    if (out.bytes() != 0)
      std::memcpy(out.mutable_data(), static_cast<const char*>(x.data()) + static_cast<size_t>(r) * out.bytes(),
                  out.bytes());
    return out;
  };
  switch (call.kind) {
    case Collective::all_reduce:
      return combined(size());
    case Collective::reduce:
      return call.peer == rank() ? combined(size()) : zeros(call.result);
    case Collective::broadcast:
      return operand_of(call.peer);
    case Collective::all_gather:
      return stacked(size());
    case Collective::gather:
      return call.peer == rank() ? stacked(size()) : zeros(call.result);
    case Collective::scatter:
      return row(operand_of(call.peer), rank());
    case Collective::reduce_scatter:
      return row(combined(size()), rank());
    case Collective::all_to_all: {
      std::vector<AnyArray> rows;
      for (int64_t r = 0; r < size(); ++r) {
        const AnyArray x = row(operand_of(r), rank());
        rows.emplace_back(Type{x.dtype(), x.shape().with_inserted(0, 1)}, x.storage());
      }
      return one("concatenate", rows, {{"axis", int64_t{0}}});
    }
    case Collective::send_receive:
      return call.source < 0 ? zeros(call.result) : operand_of(call.source);
    case Collective::scan:
      return combined(rank() + 1);
    default:
      return zeros(call.result);
  }
}

}  // namespace calque::test
