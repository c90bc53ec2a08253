// Evaluation of control flow: plain loops over calls of the sub-graphs.
#include <algorithm>
#include <cstring>

#include "primitives/control/control.h"

namespace calque::primitives {
namespace {

using Arrays = std::vector<AnyArray>;

Arrays concatenated(std::span<const AnyArray> a, std::span<const AnyArray> b) {
  Arrays all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// `next` at leading indices where the predicate holds, else `carry`.
AnyArray merge(const AnyArray& predicate, const AnyArray& carry, const AnyArray& next) {
  AnyArray out = make_array(carry.type());
  const auto lanes = static_cast<size_t>(predicate.size());
  if (out.bytes() == 0) return out;
  const size_t lane_bytes = out.bytes() / lanes;
  for (size_t i = 0; i < lanes; ++i) {
    const AnyArray& from = predicate.data_as<bool>()[i] ? next : carry;
    std::memcpy(static_cast<char*>(out.mutable_data()) + i * lane_bytes, bytes_of(from) + i * lane_bytes, lane_bytes);
  }
  return out;
}

/// Element i along the leading dimension.
AnyArray leading(const AnyArray& x, int64_t i) {
  AnyArray out = make_array({x.dtype(), x.shape().without(0)});
  if (out.bytes() != 0)
    std::memcpy(out.mutable_data(), bytes_of(x) + static_cast<size_t>(i) * out.bytes(), out.bytes());
  return out;
}

void call_body(Evaluation& e) { e.results = e.call(e.subgraphs[0], e.operands); }

}  // namespace

void Cond::evaluate(Evaluation& e) {
  const bool pred = *e.operands[0].data_as<bool>();
  e.results = e.call(e.subgraphs[pred ? 0 : 1], e.operands.subspan(1));
}

void Switch::evaluate(Evaluation& e) {
  const auto last = static_cast<int64_t>(e.subgraphs.size()) - 1;
  const int64_t index = std::clamp<int64_t>(*e.operands[0].data_as<int32_t>(), 0, last);
  e.results = e.call(e.subgraphs[static_cast<size_t>(index)], e.operands.subspan(1));
}

void While::evaluate(Evaluation& e) {
  const auto cond_consts = static_cast<size_t>(e.attributes.integer("cond_consts"));
  const auto body_consts = static_cast<size_t>(e.attributes.integer("body_consts"));
  const auto carried = e.operands.subspan(cond_consts + body_consts);
  Arrays carry(carried.begin(), carried.end());
  while (true) {
    const AnyArray predicate = e.call(e.subgraphs[0], concatenated(e.operands.first(cond_consts), carry))[0];
    const bool* lanes = predicate.data_as<bool>();
    if (std::none_of(lanes, lanes + predicate.size(), [](bool lane) { return lane; })) break;
    Arrays next = e.call(e.subgraphs[1], concatenated(e.operands.subspan(cond_consts, body_consts), carry));
    if (predicate.rank() != 0) {
      for (size_t i = 0; i < carry.size(); ++i) next[i] = merge(predicate, carry[i], next[i]);
    }
    carry = std::move(next);
  }
  e.results = std::move(carry);
}

void Scan::evaluate(Evaluation& e) {
  const auto consts = static_cast<size_t>(e.attributes.integer("consts"));
  const auto carries = static_cast<size_t>(e.attributes.integer("carry"));
  const int64_t length = e.attributes.integer("length");
  const bool reverse = e.attributes.get<bool>("reverse");
  const auto carried = e.operands.subspan(consts, carries);
  const auto xs = e.operands.subspan(consts + carries);
  Arrays carry(carried.begin(), carried.end());
  Arrays stacked;
  for (size_t i = carries; i < e.result_types.size(); ++i) stacked.push_back(make_array(e.result_types[i]));
  for (int64_t step = 0; step < length; ++step) {
    const int64_t i = reverse ? length - 1 - step : step;
    Arrays inputs = concatenated(e.operands.first(consts), carry);
    for (const AnyArray& x : xs) inputs.push_back(leading(x, i));
    Arrays outputs = e.call(e.subgraphs[0], inputs);
    for (size_t k = 0; k < stacked.size(); ++k) {
      const AnyArray& y = outputs[carries + k];
      if (y.bytes() == 0) continue;
      std::memcpy(static_cast<char*>(stacked[k].mutable_data()) + static_cast<size_t>(i) * y.bytes(), y.data(),
                  y.bytes());
    }
    outputs.resize(carries);
    carry = std::move(outputs);
  }
  e.results = std::move(carry);
  e.results.insert(e.results.end(), stacked.begin(), stacked.end());
}

void Call::evaluate(Evaluation& e) { call_body(e); }
void Checkpoint::evaluate(Evaluation& e) { call_body(e); }
void CustomJvp::evaluate(Evaluation& e) { call_body(e); }
void CustomVjp::evaluate(Evaluation& e) { call_body(e); }

}  // namespace calque::primitives
