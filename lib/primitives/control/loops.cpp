#include "primitives/control/loops.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ir/graph/rearrange.h"
#include "primitives/control/collectives.h"
#include "primitives/control/subgraph_rules.h"
#include "primitives/core/emit.h"

namespace calque::primitives {
namespace {

using Arrays = std::vector<AnyArray>;

Arrays concatenated_arrays(std::span<const AnyArray> a, std::span<const AnyArray> b) {
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

/// Makes the body accumulate the cotangents of its constants in carried sums.
void accumulate(const Location& location, Graph& body, size_t first_output, size_t first_input, size_t count) {
  std::vector<Value> outputs = body.outputs();
  const Writer w(body, location);
  for (size_t i = 0; i < count; ++i) {
    outputs[first_output + i] = w.add(body.inputs()[first_input + i], outputs[first_output + i]);
  }
  body.set_outputs(std::move(outputs));
}

}  // namespace

void While::infer(Typing& t) {
  const Graph& cond = t.subgraphs()[0];
  const Graph& body = t.subgraphs()[1];
  const size_t cond_consts = count_attribute(t, "cond_consts", t.num_operands());
  const size_t body_consts = count_attribute(t, "body_consts", t.num_operands() - cond_consts);
  const std::vector<Type> carry = operand_types(t, cond_consts + body_consts);
  t.match("input of the condition", concatenated(operand_types(t, 0, cond_consts), carry), cond.input_types());
  t.match("input of the body", concatenated(operand_types(t, cond_consts, cond_consts + body_consts), carry),
          body.input_types());
  match_carry(t, carry, body.output_types());
  const std::vector<Type> predicate = cond.output_types();
  if (predicate.size() != 1 || predicate[0].dtype != DType::bool_) {
    t.dtype_error(
        fmt::format("expects a condition that gives one bool, got {}",
                    predicate.size() == 1 ? to_string(predicate[0]) : fmt::format("{} values", predicate.size())));
  }
  const Shape& lanes = predicate[0].shape;
  for (const Type& type : carry) {
    bool fits = type.shape.size() >= lanes.size();
    for (size_t d = 0; fits && d < lanes.size(); ++d) fits = type.shape[d] == lanes[d];
    if (!fits) {
      t.shape_error(fmt::format("a condition {} expects carries whose shape starts with {}, got {}",
                                to_string(predicate[0]), to_string(lanes), to_string(type)));
    }
  }
  add_results(t, carry);
}

void While::evaluate(Evaluation& e) {
  const auto cond_consts = static_cast<size_t>(e.attributes.integer("cond_consts"));
  const auto body_consts = static_cast<size_t>(e.attributes.integer("body_consts"));
  const auto carried = e.operands.subspan(cond_consts + body_consts);
  Arrays carry(carried.begin(), carried.end());
  while (true) {
    const AnyArray predicate = e.call(e.subgraphs[0], concatenated_arrays(e.operands.first(cond_consts), carry))[0];
    const bool* lanes = predicate.data_as<bool>();
    if (std::none_of(lanes, lanes + predicate.size(), [](bool lane) { return lane; })) break;
    Arrays next = e.call(e.subgraphs[1], concatenated_arrays(e.operands.subspan(cond_consts, body_consts), carry));
    if (predicate.rank() != 0) {
      for (size_t i = 0; i < carry.size(); ++i) next[i] = merge(predicate, carry[i], next[i]);
    }
    carry = std::move(next);
  }
  e.results = std::move(carry);
}

void While::jvp(Jvp& j) {
  const WhileParts parts(j.equation);
  const Graph& body = j.equation.subgraphs()[1];
  const std::vector<bool> all = j.active_from(0);
  const std::vector<bool> consts = slice_of(all, parts.cond_consts, parts.body_consts);
  std::vector<bool> carry = slice_of(all, parts.first_carry(), parts.carry);
  const std::vector<bool> outputs = active_carry(j, body, consts, carry, {});
  const size_t dc = count_true(consts, 0, parts.body_consts), dk = count_true(carry, 0, parts.carry);

  ValueList operands;
  append_primals(j, operands, 0, parts.first_carry());
  append_tangents(j, operands, parts.cond_consts, consts);
  append_primals(j, operands, parts.first_carry(), parts.carry);
  append_tangents(j, operands, parts.first_carry(), carry);

  std::vector<bool> active = consts;
  append(active, carry);
  Graph both = j.subgraphs.jvp(body, active, outputs);
  const size_t primals = parts.body_consts + parts.carry;
  permute_inputs(both, Positions()
                           .range(0, parts.body_consts)
                           .range(primals, dc)
                           .range(parts.body_consts, parts.carry)
                           .range(primals + dc, dk));
  Graph condition = j.equation.subgraphs()[0];
  for (size_t i = 0; i < parts.carry; ++i) {
    if (carry[i]) condition.add_input(j.operand_type(parts.first_carry() + i));
  }
  const Equation& e = j.writer.append(id_of<While>, std::move(operands),
                                      {{"body_consts", static_cast<int64_t>(parts.body_consts + dc)},
                                       {"cond_consts", static_cast<int64_t>(parts.cond_consts)}},
                                      graphs(std::move(condition), std::move(both)));
  take_results(j, e, outputs);
}

void While::batch(Batching& b) {
  const WhileParts parts(b.equation);
  const Graph& condition = b.equation.subgraphs()[0];
  const Graph& body = b.equation.subgraphs()[1];
  const std::vector<bool> cond_consts = slice_of(b.batched, 0, parts.cond_consts),
                          body_consts = slice_of(b.batched, parts.cond_consts, parts.body_consts);
  std::vector<bool> carry = slice_of(b.batched, parts.first_carry(), parts.carry), outputs;
  const bool has_lanes = condition.shape(condition.outputs()[0]).rank() > 0;
  std::vector<bool> predicate(1);
  Graph batched = batched_loop(b, body, body_consts, carry, {}, outputs);
  predicate = b.subgraphs.dependent_outputs(condition, concatenated(cond_consts, carry, {}));
  // A condition with a value per element requires carries with the same leading dimensions.
  const size_t grown = count_true(carry, 0, carry.size());
  if (has_lanes && grown > 0) predicate = {true};
  if (predicate[0] && !has_lanes && has_effect_of_examples(b.equation)) return batch_one_by_one(b);
  if (predicate[0] && grown < carry.size()) {
    carry.assign(carry.size(), true);
    batched = batched_loop(b, body, body_consts, carry, {}, outputs);
  }
  Graph batched_condition = b.subgraphs.batch(condition, concatenated(cond_consts, carry, {}), b.size, predicate);
  ValueList operands;
  for (size_t i = 0; i < b.operands.size(); ++i) {
    const bool grown = i >= parts.first_carry() && carry[i - parts.first_carry()];
    operands.push_back(grown ? b.batched_operand(i) : b.operands[i]);
  }
  const Equation& e = b.writer.append(id_of<While>, std::move(operands), b.attributes(),
                                      graphs(std::move(batched_condition), std::move(batched)));
  for (size_t i = 0; i < parts.carry; ++i) b.result(e.result(i), carry[i]);
}

void Scan::infer(Typing& t) {
  const Graph& body = t.subgraphs()[0];
  const size_t consts = count_attribute(t, "consts", t.num_operands());
  const size_t carries = count_attribute(t, "carry", t.num_operands() - consts);
  const int64_t length = t.integer("length");
  if (length < 0) t.shape_error(fmt::format("expects a length that is not negative, got {}", length));
  if (t.integer("unroll") < 1) {
    t.rule_error(fmt::format("expects a positive unroll, got {}", t.integer("unroll")));
  }
  const std::vector<Type> carry = operand_types(t, consts, consts + carries);
  std::vector<Type> inputs = operand_types(t, 0, consts + carries);
  for (size_t i = consts + carries; i < t.num_operands(); ++i) {
    const Type& xs = t.operand(i);
    if (xs.shape.rank() == 0 || xs.shape[0] != length) {
      t.shape_error(fmt::format("expects xs of leading extent {}, got {}", length, to_string(xs)));
    }
    inputs.push_back({xs.dtype, xs.shape.without(0)});
  }
  t.match("input of the body", inputs, body.input_types());
  const std::vector<Type> outputs = body.output_types();
  if (outputs.size() < carries) {
    t.rule_error(fmt::format("the carry has {} values and the body returns {}", carries, outputs.size()));
  }
  match_carry(t, carry, std::span<const Type>(outputs).first(carries));
  add_results(t, carry);
  for (size_t i = carries; i < outputs.size(); ++i) {
    t.result({outputs[i].dtype, outputs[i].shape.with_inserted(0, length)});
  }
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
    Arrays inputs = concatenated_arrays(e.operands.first(consts), carry);
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

void Scan::jvp(Jvp& j) {
  const ScanParts parts(j.equation);
  const Graph& body = j.equation.subgraphs()[0];
  const std::vector<bool> all = j.active_from(0);
  const std::vector<bool> consts = slice_of(all, 0, parts.consts), xs = slice_of(all, parts.first_x(), parts.xs);
  std::vector<bool> carry = slice_of(all, parts.consts, parts.carry);
  const std::vector<bool> outputs = active_carry(j, body, consts, carry, xs);
  const size_t dc = count_true(consts, 0, parts.consts), dk = count_true(carry, 0, parts.carry),
               dx = count_true(xs, 0, parts.xs), dy = count_true(outputs, parts.carry, outputs.size());

  ValueList operands;
  append_primals(j, operands, 0, parts.consts);
  append_tangents(j, operands, 0, consts);
  append_primals(j, operands, parts.consts, parts.carry);
  append_tangents(j, operands, parts.consts, carry);
  append_primals(j, operands, parts.first_x(), parts.xs);
  append_tangents(j, operands, parts.first_x(), xs);

  std::vector<bool> active = consts;
  append(active, carry);
  append(active, xs);
  Graph both = j.subgraphs.jvp(body, active, outputs);
  const size_t primals = parts.first_x() + parts.xs;  // followed by tangents of consts, carry and xs
  permute_inputs(both, Positions()
                           .range(0, parts.consts)
                           .range(primals, dc)
                           .range(parts.consts, parts.carry)
                           .range(primals + dc, dk)
                           .range(parts.first_x(), parts.xs)
                           .range(primals + dc + dk, dx));
  const size_t results = parts.carry + parts.ys;
  select_outputs(
      both, Positions().range(0, parts.carry).range(results, dk).range(parts.carry, parts.ys).range(results + dk, dy));
  Attributes attributes = j.attributes();
  attributes.set("consts", static_cast<int64_t>(parts.consts + dc));
  attributes.set("carry", static_cast<int64_t>(parts.carry + dk));
  const Equation& e = j.writer.append(id_of<Scan>, std::move(operands), std::move(attributes), graphs(std::move(both)));
  size_t next_carry = parts.carry, next_y = parts.carry + dk + parts.ys;
  for (size_t i = 0; i < results; ++i) {
    const bool is_carry = i < parts.carry;
    j.results.push_back(e.result(is_carry ? i : i + dk));
    if (outputs[i]) j.result_tangents[i] = e.result(is_carry ? next_carry++ : next_y++);
  }
}

void Scan::transpose(Transposition& t) {
  const ScanParts parts(t.equation);
  const Graph& body = t.equation.subgraphs()[0];
  std::vector<bool> linear = linear_mask(t, 0, t.operands.size());
  // Partial evaluation has moved non-linear carries out: only constants and slices may be non-linear.
  for (size_t i = parts.consts; i < parts.first_x(); ++i) linear[i] = true;
  const size_t lc = count_true(linear, 0, parts.consts), lx = count_true(linear, parts.first_x(), linear.size());
  const size_t rc = parts.consts - lc, rx = parts.xs - lx;

  // ys without a cotangent are omitted; carries always have one.
  std::vector<bool> given(parts.carry, true);
  ValueList ct_ys;
  for (size_t i = 0; i < parts.ys; ++i) {
    given.push_back(t.cotangents[parts.carry + i].valid());
    if (given.back()) ct_ys.push_back(t.cotangents[parts.carry + i]);
  }
  const size_t gy = ct_ys.size();

  // Inputs: non-linear constants and slices, then cotangents of carry and ys. Outputs: cotangents of constants, carry
  // and slices.
  Graph backward = t.subgraphs.transpose_partitioned(body, linear, given);
  for (size_t i = 0; i < parts.consts; ++i) {
    if (linear[i]) backward.add_input(t.operand_type(i));
  }
  const size_t ct = rc + rx, sums = ct + parts.carry + gy;
  accumulate(t.writer.location(), backward, 0, sums, lc);
  permute_inputs(
      backward,
      Positions().range(0, rc).range(sums, lc).range(ct, parts.carry).range(rc, rx).range(ct + parts.carry, gy));

  ValueList operands;
  const auto keep = [&](size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      if (!linear[i]) operands.push_back(t.operands[i]);
    }
  };
  keep(0, parts.consts);
  for (size_t i = 0; i < parts.consts; ++i) {
    if (linear[i]) operands.push_back(t.writer.zeros(t.operand_type(i)));
  }
  for (size_t i = 0; i < parts.carry; ++i) operands.push_back(t.cotangent_or_zero(i));
  keep(parts.first_x(), parts.xs);
  for (const Value v : ct_ys) operands.push_back(v);

  Attributes attributes = t.attributes();
  attributes.set("consts", static_cast<int64_t>(rc));
  attributes.set("carry", static_cast<int64_t>(lc + parts.carry));
  attributes.set("reverse", !t.attributes().get<bool>("reverse"));
  const Equation& e =
      t.writer.append(id_of<Scan>, std::move(operands), std::move(attributes), graphs(std::move(backward)));
  size_t next = 0;
  for (size_t i = 0; i < linear.size(); ++i) {
    if (!linear[i]) continue;
    const Value result = e.result(next++);
    if (t.linear(i)) t.add(i, result);
  }
}

void Scan::batch(Batching& b) {
  const ScanParts parts(b.equation);
  const Graph& body = b.equation.subgraphs()[0];
  const std::vector<bool> consts = slice_of(b.batched, 0, parts.consts),
                          xs = slice_of(b.batched, parts.first_x(), parts.xs);
  std::vector<bool> carry = slice_of(b.batched, parts.consts, parts.carry), outputs;
  Graph batched = batched_loop(b, body, consts, carry, xs, outputs);
  ValueList operands;
  for (size_t i = 0; i < b.operands.size(); ++i) {
    const bool is_carry = i >= parts.consts && i < parts.first_x();
    if (is_carry) {
      operands.push_back(carry[i - parts.consts] ? b.batched_operand(i) : b.operands[i]);
    } else if (i >= parts.first_x() && b.batched[i]) {
      operands.push_back(b.writer.move_axis(b.operands[i], 0, 1));  // dimension 0: steps, dimension 1: examples
    } else {
      operands.push_back(b.operands[i]);
    }
  }
  const Equation& e = b.writer.append(id_of<Scan>, std::move(operands), b.attributes(), graphs(std::move(batched)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_y = i >= parts.carry;
    b.result(is_y && outputs[i] ? b.writer.move_axis(e.result(i), 1, 0) : e.result(i), outputs[i]);
  }
}

}  // namespace calque::primitives
