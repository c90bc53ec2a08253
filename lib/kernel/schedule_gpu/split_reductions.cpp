// The body of a cumulative loop computes the next carry k as combiner k of carry k and of an operand that depends on no
// carry: that operand is the contribution of an iteration. A body is copied into every loop that is made of it; each
// store is executed once, since each iteration runs in one copy only.
#include "kernel/schedule_gpu/split_reductions.h"

#include <algorithm>

#include "kernel/schedule_gpu/loop_queries.h"
#include "primitives/elementwise/arithmetic.h"

namespace calque::kernel {

using namespace primitives;

namespace {

bool is_arg(Combiner c) { return c == Combiner::argmax || c == Combiner::argmin; }

Instruction loop_like(const Instruction& loop, LoopKind kind, int64_t extent) {
  Instruction out;
  out.op = Op::loop;
  out.loop = kind;
  out.extent = extent;
  out.combiners = loop.combiners;
  return out;
}

// Identities as initial values.
Ids nothing(InstructionCopier& c, Region& to, const Instruction& loop) {
  Ids ids;
  for (size_t r = 0; r < loop.results.size(); ++r) {
    const DType d = c.dtype(loop.results[r]);
    Literal literal = identity(loop.combiners[r], d);
    // -0 + x is x for every x, +0 + -0 is not -0.
    if (loop.combiners[r] == Combiner::add && d == DType::f32) literal = Literal::of<float>(-0.0f);
    if (loop.combiners[r] == Combiner::add && d == DType::f64) literal = Literal::of<double>(-0.0);
    ids.push_back(c.constant(to, d, literal));
    if (is_arg(loop.combiners[r])) ids.push_back(c.constant(to, DType::i64, Literal::of<int64_t>(INT64_MAX))), ++r;
  }
  return ids;
}

void results(InstructionCopier& c, const Instruction& loop, Instruction& out) {
  for (const Id r : loop.results) out.results.push_back(c.fresh(c.dtype(r)));
}

// first + index, in a loop's body.
Id offset(InstructionCopier& c, Region& body, Id index, Id first) {
  return c.scalar(body, id_of<Add>, DType::i64, {first, index});
}

// The contributions of an iteration of a cumulative body, without code that depends on carries or has effects.
Ids contributions(InstructionCopier& c, Region& to, const Instruction& loop) {
  const Region& body = loop.regions[0];
  std::vector<bool> late(c.count(), false);
  for (size_t k = 0; k < loop.results.size(); ++k) late[static_cast<size_t>(body.parameters[k + 1])] = true;
  std::vector<const Instruction*> next(loop.results.size(), nullptr);
  const Instruction& yield = body.instructions.back();
  for (const Instruction& i : body.instructions) {
    if (i.op == Op::yield) break;
    for (size_t k = 0; k < next.size(); ++k)
      if (!i.results.empty() && i.results[0] == yield.operands[k]) next[k] = &i;
    const auto used = free_values(i);
    const bool is_late = i.op == Op::store || (!i.regions.empty() && has_stores(Region{{}, {i}})) ||
                         std::any_of(used.begin(), used.end(), [&](Id o) { return late[static_cast<size_t>(o)]; });
    if (is_late)
      for (const Id r : i.results) late[static_cast<size_t>(r)] = true;
    else
      c.copy_into(to, i);
  }
  Ids out;
  for (size_t k = 0; k < next.size(); ++k) {
    const bool first = next[k]->operands[0] == body.parameters[k + 1];
    out.push_back(c.of(next[k]->operands[first ? 1 : 0]));
  }
  return out;
}

Ids partial_values(InstructionCopier& c, Region& to, const Partials& partials, Id chunk) {
  Ids values;
  const Id at = partials.index(to, chunk);
  for (const int32_t b : partials.buffers) values.push_back(c.load(to, b, at));
  return values;
}

// The loop's iterations from `first` (known in `to`) on, from the values `initial`.
Instruction run_from(InstructionCopier& c, const Instruction& loop, int64_t extent, Id first, const Ids& initial) {
  Instruction out = loop_like(loop, loop.loop, extent);
  out.operands = initial;
  Region body;
  const Id index = c.fresh(DType::i64);
  body.parameters.push_back(index);
  const Region& from = loop.regions[0];
  c.set(from.parameters[0], offset(c, body, index, first));
  if (loop.loop == LoopKind::sequential) {
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const Id carry = c.fresh(c.dtype(loop.results[k]));
      body.parameters.push_back(carry);
      c.set(from.parameters[k + 1], carry);
    }
  }
  Ids yielded = c.copy_body(body, from);
  InstructionCopier::yield(body, std::move(yielded));
  out.regions.push_back(std::move(body));
  results(c, loop, out);
  return out;
}

Id first_of(InstructionCopier& c, Region& to, const LoopSplit& split, Id chunk) {
  return c.scalar(to, id_of<Mul>, DType::i64, {chunk, c.index(to, split.length)});
}

Ids initial_values(InstructionCopier& c, const Instruction& loop) {
  Ids ids;
  for (const Id o : loop.operands) ids.push_back(c.of(o));
  return ids;
}

void define_results(InstructionCopier& c, const Instruction& loop, const Ids& values) {
  for (size_t r = 0; r < loop.results.size(); ++r) c.set(loop.results[r], values[r]);
}

/// Runs the iterations past the last chunk, from the combination of all chunks, and defines the loop's results.
void run_rest(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split, Ids values) {
  if (const int64_t rest = loop.extent - split.whole(); rest > 0) {
    const Id first = c.index(to, split.whole());
    Instruction last = run_from(c, loop, rest, first, values);
    values = last.results;
    to.instructions.push_back(std::move(last));
  }
  define_results(c, loop, values);
}

}  // namespace

void reduce_chunk(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split, Id chunk,
                  const Partials& partials) {
  const Id first = first_of(c, to, split, chunk);
  Instruction out = loop_like(loop, LoopKind::reduction, split.length);
  out.operands = nothing(c, to, loop);
  Region body;
  const Id index = c.fresh(DType::i64);
  body.parameters.push_back(index);
  c.set(loop.regions[0].parameters[0], offset(c, body, index, first));
  InstructionCopier::yield(
      body, loop.loop == LoopKind::reduction ? c.copy_body(body, loop.regions[0]) : contributions(c, body, loop));
  out.regions.push_back(std::move(body));
  results(c, loop, out);
  const Ids values = out.results;
  to.instructions.push_back(std::move(out));
  const Id at = partials.index(to, chunk);
  for (size_t r = 0; r < values.size(); ++r) c.store(to, partials.buffers[r], at, values[r]);
}

void reduce_partials(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split,
                     const Partials& partials) {
  Instruction all = loop_like(loop, LoopKind::reduction, split.chunks);
  all.operands = initial_values(c, loop);
  Region body;
  const Id chunk = c.fresh(DType::i64);
  body.parameters.push_back(chunk);
  InstructionCopier::yield(body, partial_values(c, body, partials, chunk));
  all.regions.push_back(std::move(body));
  results(c, loop, all);
  Ids values = all.results;
  to.instructions.push_back(std::move(all));
  run_rest(c, to, loop, split, std::move(values));
}

void scan_partials(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split,
                   const Partials& partials) {
  Instruction all = loop_like(loop, LoopKind::sequential, split.chunks);
  all.operands = initial_values(c, loop);
  Region body;
  const Id chunk = c.fresh(DType::i64);
  body.parameters.push_back(chunk);
  Ids carries;
  for (const Id r : loop.results) {
    carries.push_back(c.fresh(c.dtype(r)));
    body.parameters.push_back(carries[carries.size() - 1]);
  }
  const Ids mine = partial_values(c, body, partials, chunk);
  const Id at = partials.index(body, chunk);
  Ids next;
  for (size_t k = 0; k < carries.size(); ++k) {
    const PrimitiveId how[] = {id_of<Add>, id_of<Mul>, id_of<Max>, id_of<Min>, id_of<And>, id_of<Or>};
    next.push_back(
        c.scalar(body, how[static_cast<size_t>(loop.combiners[k])], c.dtype(loop.results[k]), {carries[k], mine[k]}));
    c.store(body, partials.buffers[k], at, carries[k]);
  }
  InstructionCopier::yield(body, std::move(next));
  all.regions.push_back(std::move(body));
  results(c, loop, all);
  Ids values = all.results;
  to.instructions.push_back(std::move(all));
  run_rest(c, to, loop, split, std::move(values));
}

void scan_chunk(InstructionCopier& c, Region& to, const Instruction& loop, const LoopSplit& split, Id chunk,
                const Partials& partials) {
  const Id first = first_of(c, to, split, chunk);
  const Ids before = partial_values(c, to, partials, chunk);
  to.instructions.push_back(run_from(c, loop, split.length, first, before));
}

}  // namespace calque::kernel
