#include "kernel/ir/kernel_builder.h"

#include <array>
#include <cstring>
#include <utility>

#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

struct Emitter::Key {
  Op op;
  PrimitiveId primitive;
  DType dtype;
  int32_t buffer;
  Ids operands;
  Literal literal;
  bool exact;
  friend bool operator==(const Key&, const Key&) = default;
};

namespace {
size_t mix(size_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}
bool mul_overflows(int64_t a, int64_t b, int64_t& r) { return __builtin_mul_overflow(a, b, &r); }
}  // namespace

struct Emitter::KeyHash {
  size_t operator()(const Key& k) const {
    size_t h = mix(static_cast<size_t>(k.op), k.primitive);
    h = mix(h, static_cast<uint64_t>(k.dtype));
    h = mix(h, static_cast<uint64_t>(k.buffer) * 2 + (k.exact ? 1 : 0));
    for (Id o : k.operands) h = mix(h, static_cast<uint64_t>(o));
    uint64_t bits[2];
    std::memcpy(bits, k.literal.bytes, 16);
    return mix(mix(h, bits[0]), bits[1]);
  }
};

struct Emitter::MemoHash {
  size_t operator()(const MemoKey& k) const {
    size_t h = mix(k.frame, k.value);
    h = mix(h, static_cast<uint64_t>(k.predicate));
    for (Id o : k.index) h = mix(h, static_cast<uint64_t>(o));
    return h;
  }
};

struct Emitter::Scope {
  Region region;
  std::vector<int32_t> locals;
  std::unordered_map<Key, Id, KeyHash> known;
  std::unordered_map<MemoKey, Id, MemoHash> memo;
};

Emitter::Emitter(Kernel& kernel) : kernel_(kernel) { scopes_.push_back(std::make_unique<Scope>()); }

Emitter::~Emitter() {
  if (scopes_.size() == 1) kernel_.body = std::move(scopes_[0]->region);
}

Id Emitter::fresh(DType dtype, int depth) {
  const Id id = kernel_.add_value(dtype);
  depths_.push_back(depth);
  ranges_.emplace_back();
  return id;
}

void Emitter::range(Id id, int64_t low, int64_t high) { ranges_[static_cast<size_t>(id)] = {low, high}; }

Id Emitter::emit_pure(Instruction instruction, DType dtype) {
  int depth = 0;
  for (Id o : instruction.operands) depth = std::max(depth, depth_of(o));
  if (depth > this->depth())
    throw CompileError("internal: a kernel instruction is inserted outside its operands' scope");
  const Key key{instruction.op,      instruction.primitive, dtype, instruction.buffer, instruction.operands,
                instruction.literal, instruction.exact};
  if (instruction.op != Op::constant) {
    for (const int least = std::min(least_depth_, this->depth()); depth < least; ++depth) {
      const auto& known = scopes_[static_cast<size_t>(depth)]->known;
      if (const auto it = known.find(key); it != known.end()) return it->second;
    }
  }
  Scope& scope = *scopes_[static_cast<size_t>(depth)];
  const auto [it, inserted] = scope.known.try_emplace(key, kNone);
  if (!inserted) return it->second;
  const Id id = fresh(dtype, depth);
  it->second = id;
  instruction.results = {id};
  scope.region.instructions.push_back(std::move(instruction));
  return id;
}

Id Emitter::constant(DType dtype, const Literal& value) {
  Instruction i;
  i.op = Op::constant;
  i.literal = value;
  const Id id = emit_pure(std::move(i), dtype);
  if (dtype == DType::i64) range(id, value.as<int64_t>(), value.as<int64_t>());
  return id;
}

bool Emitter::is_constant(Id id, int64_t& value) const {
  const Range& r = ranges_[static_cast<size_t>(id)];
  value = r.low;
  return r.low == r.high;
}

Id Emitter::scalar(PrimitiveId primitive, DType dtype, std::span<const Id> operands, bool exact) {
  Instruction i;
  i.op = Op::scalar;
  i.primitive = primitive;
  i.exact = exact;
  i.operands = Ids(operands);
  return emit_pure(std::move(i), dtype);
}

Id Emitter::load(int32_t buffer, Id index, bool pinned) {
  Instruction i;
  i.op = Op::load;
  i.buffer = buffer;
  i.operands = {index};
  if (predicate_ != kNone) i.operands.push_back(predicate_);
  const DType dtype = kernel_.buffers[static_cast<size_t>(buffer)].dtype;
  if (!pinned) return emit_pure(std::move(i), dtype);
  const Id id = fresh(dtype, depth());
  i.results = {id};
  scopes_.back()->region.instructions.push_back(std::move(i));
  return id;
}

void Emitter::store(int32_t buffer, Id index, Id value) {
  Instruction i;
  i.op = Op::store;
  i.buffer = buffer;
  i.operands = {index, value};
  if (predicate_ != kNone) i.operands.push_back(predicate_);
  kernel_.buffers[static_cast<size_t>(buffer)].written = true;
  scopes_.back()->region.instructions.push_back(std::move(i));
}

Id Emitter::add(Id a, Id b) {
  const Range ra = ranges_[static_cast<size_t>(a)], rb = ranges_[static_cast<size_t>(b)];
  if (ra.low == 0 && ra.high == 0) return b;
  if (rb.low == 0 && rb.high == 0) return a;
  int64_t low = INT64_MIN, high = INT64_MAX;
  const bool known = !__builtin_add_overflow(ra.low, rb.low, &low) && !__builtin_add_overflow(ra.high, rb.high, &high);
  if (known && low == high) return index(low);
  const Id id = scalar(id_of<Add>, DType::i64, {a, b});
  if (known) range(id, low, high);
  return id;
}

Id Emitter::sub(Id a, Id b) {
  const Range ra = ranges_[static_cast<size_t>(a)], rb = ranges_[static_cast<size_t>(b)];
  if (rb.low == 0 && rb.high == 0) return a;
  int64_t low = INT64_MIN, high = INT64_MAX;
  const bool known = !__builtin_sub_overflow(ra.low, rb.high, &low) && !__builtin_sub_overflow(ra.high, rb.low, &high);
  if (known && low == high) return index(low);
  if (rb.low == rb.high && rb.low != INT64_MIN) return add(a, index(-rb.low));
  const Id id = scalar(id_of<Sub>, DType::i64, {a, b});
  if (known) range(id, low, high);
  return id;
}

Id Emitter::mul(Id a, int64_t b) {
  if (b == 0) return index(0);
  if (b == 1) return a;
  const Range ra = ranges_[static_cast<size_t>(a)];
  int64_t p = INT64_MIN, q = INT64_MAX;
  const bool known = !mul_overflows(ra.low, b, p) && !mul_overflows(ra.high, b, q);
  if (known && p == q) return index(p);
  const Id id = scalar(id_of<Mul>, DType::i64, {a, index(b)});
  if (known) range(id, std::min(p, q), std::max(p, q));
  return id;
}

Id Emitter::div(Id a, int64_t b) {
  const Range ra = ranges_[static_cast<size_t>(a)];
  if (b == 1) return a;
  if (ra.low >= 0 && ra.high < b) return index(0);
  if (ra.low == ra.high && ra.low >= 0) return index(ra.low / b);
  const Id id = scalar(id_of<Div>, DType::i64, {a, index(b)});
  if (ra.low >= 0) {
    range(id, ra.low / b, ra.high / b);
    origins_[id] = {a, b, false};
  }
  return id;
}

Id Emitter::mod(Id a, int64_t b) {
  const Range ra = ranges_[static_cast<size_t>(a)];
  if (b == 1) return index(0);
  if (ra.low >= 0 && ra.high < b) return a;
  if (ra.low == ra.high && ra.low >= 0) return index(ra.low % b);
  const Id id = scalar(id_of<Rem>, DType::i64, {a, index(b)});
  if (ra.low >= 0) {
    range(id, 0, b - 1);
    origins_[id] = {a, b, true};
  }
  return id;
}

std::optional<Emitter::Term> Emitter::combined(const Term& outer, const Term& inner) const {
  // x / (b m) and (x / b) % m combine to x / b.
  const auto rest = origins_.find(inner.index);
  if (rest == origins_.end() || !rest->second.remainder) return std::nullopt;
  int64_t step = 0, divisor = 0;
  if (mul_overflows(inner.step, rest->second.by, step) || step != outer.step) return std::nullopt;
  const auto quotient = origins_.find(outer.index);
  if (quotient == origins_.end() || quotient->second.remainder) return std::nullopt;
  const Term both{rest->second.of, inner.step};
  if (quotient->second.of == both.index && quotient->second.by == rest->second.by) return both;
  const auto from = origins_.find(both.index);
  if (from == origins_.end() || from->second.remainder || quotient->second.of != from->second.of) return std::nullopt;
  if (mul_overflows(from->second.by, rest->second.by, divisor) || quotient->second.by != divisor) return std::nullopt;
  return both;
}

Id Emitter::conjunction(Id a, Id b) {
  if (a == kNone) return b;
  if (b == kNone || a == b) return a;
  return scalar(id_of<And>, DType::bool_, {a, b});
}

std::unique_ptr<Emitter::Scope> Emitter::build_region(int depth, std::span<const DType> parameters,
                                                      const RegionBody& body, Region& out) {
  // Scopes deeper than the region's parent are set aside: the region does not depend on them.
  std::vector<std::unique_ptr<Scope>> aside;
  while (this->depth() > depth) {
    aside.push_back(std::move(scopes_.back()));
    scopes_.pop_back();
  }
  scopes_.push_back(std::make_unique<Scope>());
  const auto restore = [&] {
    while (this->depth() > depth) scopes_.pop_back();
    while (!aside.empty()) {
      scopes_.push_back(std::move(aside.back()));
      aside.pop_back();
    }
  };
  try {
    Ids ids;
    for (DType d : parameters) ids.push_back(fresh(d, depth + 1));
    const Ids yields = body(ids);
    std::unique_ptr<Scope> scope = std::move(scopes_.back());
    scopes_.pop_back();
    scope->region.parameters = ids;
    if (!yields.empty()) {
      Instruction y;
      y.op = Op::yield;
      y.operands = yields;
      scope->region.instructions.push_back(std::move(y));
    }
    out = std::move(scope->region);
    restore();
    return scope;
  } catch (...) {
    restore();
    throw;
  }
}

Ids Emitter::loop(LoopKind kind, int64_t extent, std::span<const Id> initial, std::span<const Combiner> combiners,
                  int depth, const LoopBody& body) {
  Instruction i;
  i.op = Op::loop;
  i.loop = kind;
  i.extent = extent;
  i.operands = Ids(initial);
  for (Combiner c : combiners) i.combiners.push_back(c);
  std::vector<DType> parameters{DType::i64};
  if (kind == LoopKind::sequential)
    for (Id id : initial) parameters.push_back(dtype(id));
  i.regions.resize(1);
  const std::unique_ptr<Scope> scope = build_region(
      depth, parameters,
      [&](std::span<const Id> p) {
        range(p[0], 0, std::max<int64_t>(extent - 1, 0));
        return body(p[0], p.subspan(1));
      },
      i.regions[0]);
  i.locals = scope->locals;
  for (Id id : initial) i.results.push_back(fresh(dtype(id), depth));
  const Ids results = i.results;
  scopes_[static_cast<size_t>(depth)]->region.instructions.push_back(std::move(i));
  return results;
}

int32_t Emitter::local(DType dtype, int64_t extent) {
  const auto number = static_cast<int32_t>(kernel_.buffers.size());
  kernel_.buffers.push_back({dtype, extent, true, static_cast<int64_t>(size_of(dtype)), true});
  scopes_.back()->locals.push_back(number);
  return number;
}

Ids Emitter::while_loop(std::span<const Id> initial, int depth, const RegionBody& condition, const RegionBody& body,
                        bool cold) {
  Instruction i;
  i.op = Op::while_;
  i.operands = Ids(initial);
  std::vector<DType> parameters;
  for (Id id : initial) parameters.push_back(dtype(id));
  i.regions.resize(2);
  build_region(depth, parameters, condition, i.regions[0]);
  const int outer = std::exchange(least_depth_, cold ? depth + 1 : least_depth_);
  build_region(depth, parameters, body, i.regions[1]);
  least_depth_ = outer;
  for (Id id : initial) i.results.push_back(fresh(dtype(id), depth));
  const Ids results = i.results;
  scopes_[static_cast<size_t>(depth)]->region.instructions.push_back(std::move(i));
  return results;
}

Ids Emitter::if_else(Id predicate, std::span<const DType> results, int depth, const RegionBody& then_body,
                     const RegionBody& else_body) {
  Instruction i;
  i.op = Op::if_;
  i.operands = {predicate};
  i.regions.resize(2);
  build_region(depth, {}, then_body, i.regions[0]);
  build_region(depth, {}, else_body, i.regions[1]);
  for (DType d : results) i.results.push_back(fresh(d, depth));
  const Ids ids = i.results;
  scopes_[static_cast<size_t>(depth)]->region.instructions.push_back(std::move(i));
  return ids;
}

void Emitter::contraction(const Product& product, const Factor& lhs, const Factor& rhs, const Epilogue& epilogue) {
  Instruction i;
  i.op = Op::contraction;
  i.rows = product.rows;
  i.columns = product.columns;
  i.extent = product.k;
  i.regions.resize(3);
  const auto bounded = [&](Id id, int64_t extent) { range(id, 0, std::max<int64_t>(extent - 1, 0)); };
  const auto factor = [&](int64_t first, int64_t second, const Factor& element, Region& out) {
    build_region(
        depth(), std::array{DType::i64, DType::i64},
        [&](std::span<const Id> p) {
          bounded(p[0], first);
          bounded(p[1], second);
          return Ids{element(p[0], p[1])};
        },
        out);
  };
  factor(product.rows, product.k, lhs, i.regions[0]);
  factor(product.k, product.columns, rhs, i.regions[1]);
  build_region(
      depth(), std::array{DType::i64, DType::i64, product.accumulator},
      [&](std::span<const Id> p) {
        bounded(p[0], product.rows);
        bounded(p[1], product.columns);
        epilogue(p[0], p[1], p[2]);
        return Ids{};
      },
      i.regions[2]);
  scopes_.back()->region.instructions.push_back(std::move(i));
}

Id Emitter::find(const MemoKey& key) const {
  for (size_t s = scopes_.size(); s-- > 0;) {
    const auto it = scopes_[s]->memo.find(key);
    if (it != scopes_[s]->memo.end()) return it->second;
  }
  return kNone;
}

void Emitter::remember(const MemoKey& key, Id id) {
  int depth = std::max(depth_of(id), depth_of(key.predicate));
  for (Id i : key.index) depth = std::max(depth, depth_of(i));
  scopes_[static_cast<size_t>(depth)]->memo.emplace(key, id);
}

}  // namespace calque::kernel
