#include "kernel/schedule/split_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "kernel/ir/walk.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

/// Shorter ranges gain nothing; the other constants bound code growth.
constexpr int64_t kLongEnough = 32;
constexpr size_t kMostRanges = 5;
constexpr size_t kMaxSplitInstructions = 1200;

/// factor * index + constant.
struct LinearIndex {
  int64_t factor = 0, constant = 0;
};

/// The indices for which a comparison of factor * index + constant with zero holds, where factor is 1 or -1:
/// [from, to), or everything else if `inverted`.
struct Range {
  int64_t from = INT64_MIN, to = INT64_MAX;
  bool inverted = false;

  /// Whether it holds throughout [low, high) or nowhere there; nullopt otherwise.
  std::optional<bool> holds(int64_t low, int64_t high) const {
    if (from <= low && high <= to) return !inverted;
    if (high <= from || to <= low) return inverted;
    return std::nullopt;
  }
};

Range range_of(PrimitiveId relation, const LinearIndex& a) {
  // x = factor * index + constant >= bound, with bound 0 or 1, is index >= bound - constant, or <= constant - bound.
  const auto at_least = [&](int64_t bound, bool inverted) {
    if (a.factor > 0) return Range{bound - a.constant, INT64_MAX, inverted};
    return Range{INT64_MIN, a.constant - bound + 1, inverted};
  };
  switch (relation) {
    case id_of<Ge>:
      return at_least(0, false);
    case id_of<Gt>:
      return at_least(1, false);
    case id_of<Le>:
      return at_least(1, true);
    case id_of<Lt>:
      return at_least(0, true);
    default: {
      const int64_t zero = a.factor > 0 ? -a.constant : a.constant;
      return {zero, zero + 1, relation == id_of<Ne>};
    }
  }
}

bool is_relation(PrimitiveId id) {
  switch (id) {
    case id_of<Ge>:
    case id_of<Gt>:
    case id_of<Le>:
    case id_of<Lt>:
    case id_of<Eq>:
    case id_of<Ne>:
      return true;
    default:
      return false;
  }
}

class LoopSplitter {
 public:
  explicit LoopSplitter(Kernel& kernel) : k_(kernel) {}

  void run() {
    budget_ = kMaxSplitInstructions;
    k_.body = region(std::move(k_.body));
  }

 private:
  using Known = std::unordered_map<Id, Range>;

  Region region(Region r) {
    Region out;
    out.parameters = std::move(r.parameters);
    for (Instruction& i : r.instructions) {
      if (i.op == Op::constant && k_.values[static_cast<size_t>(i.results[0])] == DType::i64) {
        constants_[i.results[0]] = i.literal.as<int64_t>();
      }
      if (i.op == Op::loop && i.loop == LoopKind::parallel && split(i, out)) continue;
      for (Region& inner : i.regions) inner = region(std::move(inner));
      out.instructions.push_back(std::move(i));
    }
    return out;
  }

  // ---- comparisons of the body

  /// Records the form of every value that is affine in the index, and the range of every comparison of such values.
  void analyze(const Region& r, std::unordered_map<Id, LinearIndex>& forms, Known& known) {
    for (const Instruction& i : r.instructions) {
      for (const Region& inner : i.regions) analyze(inner, forms, known);
      if (i.op == Op::constant && k_.values[static_cast<size_t>(i.results[0])] == DType::i64) {
        constants_[i.results[0]] = i.literal.as<int64_t>();
      }
      if (i.op != Op::scalar || i.operands.size() != 2) continue;
      const auto a = form(i.operands[0], forms), b = form(i.operands[1], forms);
      if (!a || !b) continue;
      if (i.primitive == id_of<Add>) {
        record(i, forms, a->factor + b->factor, a->constant + b->constant);
      } else if (i.primitive == id_of<Sub>) {
        record(i, forms, a->factor - b->factor, a->constant - b->constant);
      } else if (is_relation(i.primitive)) {
        const LinearIndex difference{a->factor - b->factor, a->constant - b->constant};
        if (difference.factor == 1 || difference.factor == -1) {
          known.emplace(i.results[0], range_of(i.primitive, difference));
        }
      }
    }
  }
  void record(const Instruction& i, std::unordered_map<Id, LinearIndex>& forms, int64_t factor,
              int64_t constant) const {
    if (k_.values[static_cast<size_t>(i.results[0])] == DType::i64) forms[i.results[0]] = {factor, constant};
  }
  std::optional<LinearIndex> form(Id id, const std::unordered_map<Id, LinearIndex>& forms) const {
    if (const auto at = forms.find(id); at != forms.end()) return at->second;
    if (const auto at = constants_.find(id); at != constants_.end()) return LinearIndex{0, at->second};
    return std::nullopt;
  }

  bool split(const Instruction& loop, Region& out) {
    const Region& body = loop.regions[0];
    const size_t size = num_instructions(body);
    if (loop.extent < kLongEnough || size * 2 > budget_) return false;
    // A local buffer belongs to one loop.
    if (is_or_contains(loop, [](const Instruction& i) { return !i.locals.empty(); })) return false;
    std::unordered_map<Id, LinearIndex> forms{{body.parameters[0], {1, 0}}};
    Known known;
    analyze(body, forms, known);
    std::vector<int64_t> bounds{0, loop.extent};
    for (const auto& [id, range] : known) {
      for (const int64_t at : {range.from, range.to}) {
        if (at > 0 && at < loop.extent) bounds.push_back(at);
      }
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    const size_t ranges = bounds.size() - 1;
    if (ranges < 2 || ranges > kMostRanges || size * ranges > budget_) return false;
    int64_t longest = 0;
    for (size_t i = 0; i < ranges; ++i) longest = std::max(longest, bounds[i + 1] - bounds[i]);
    if (longest < kLongEnough) return false;
    budget_ -= size * (ranges - 1);
    for (size_t i = 0; i < ranges; ++i) copy_range(loop, bounds[i], bounds[i + 1], known, out);
    return true;
  }

  // ---- copies

  /// A copy of instructions with renamed values, in which some predicates are known.
  struct Copy {
    std::unordered_map<Id, Id> values;     // by original value
    std::unordered_map<Id, bool> decided;  // by original value
    const Known* known;
    int64_t low, high;
  };

  void copy_range(const Instruction& loop, int64_t low, int64_t high, const Known& known, Region& out) {
    Copy copy{{}, {}, &known, low, high};
    Instruction range = loop;
    range.extent = high - low;
    Region body;
    const Id index = k_.add_value(DType::i64);
    body.parameters = {index};
    Id shifted = index;
    if (low != 0) {
      const Id offset = constant(out, DType::i64, Literal::of<int64_t>(low));
      shifted = k_.add_value(DType::i64);
      Instruction add;
      add.op = Op::scalar;
      add.primitive = id_of<Add>;
      add.operands = {index, offset};
      add.results = {shifted};
      body.instructions.push_back(std::move(add));
    }
    copy.values[loop.regions[0].parameters[0]] = shifted;
    copy_instructions(loop.regions[0], copy, body);
    range.regions.clear();
    range.regions.push_back(region(std::move(body)));
    out.instructions.push_back(std::move(range));
  }

  Id constant(Region& to, DType dtype, const Literal& literal) {
    Instruction i;
    i.op = Op::constant;
    i.literal = literal;
    i.results = {k_.add_value(dtype)};
    if (dtype == DType::i64) constants_[i.results[0]] = literal.as<int64_t>();
    to.instructions.push_back(i);
    return to.instructions.back().results[0];
  }

  Id name(Id old, Copy& copy, Region& to) {
    if (const auto at = copy.values.find(old); at != copy.values.end()) return at->second;
    if (const auto at = copy.decided.find(old); at != copy.decided.end()) {
      return constant(to, DType::bool_, Literal::of<bool>(at->second));
    }
    return old;  // defined outside of the loop
  }
  std::optional<bool> decided(Id old, const Copy& copy) const {
    if (const auto at = copy.decided.find(old); at != copy.decided.end()) return at->second;
    return std::nullopt;
  }
  /// Makes `result` an alias of `operand`: of its copy or its known boolean.
  void alias(Id result, Id operand, Copy& copy, Region& to) {
    if (const auto known = decided(operand, copy)) {
      copy.decided[result] = *known;
    } else {
      copy.values[result] = name(operand, copy, to);
    }
  }

  void copy_instructions(const Region& from, Copy& copy, Region& to) {
    for (const Instruction& i : from.instructions) {
      if (!folded(i, copy, to)) copy_instruction(i, copy, to);
    }
  }

  void copy_instruction(const Instruction& i, Copy& copy, Region& to) {
    Instruction same = i;
    same.regions.clear();
    for (Id& operand : same.operands) operand = name(operand, copy, to);
    for (const Region& r : i.regions) {
      Region inner;
      for (const Id p : r.parameters) {
        inner.parameters.push_back(copy.values[p] = k_.add_value(k_.values[static_cast<size_t>(p)]));
      }
      copy_instructions(r, copy, inner);
      same.regions.push_back(std::move(inner));
    }
    for (Id& result : same.results) {
      const Id fresh = k_.add_value(k_.values[static_cast<size_t>(result)]);
      copy.values[result] = fresh;
      result = fresh;
    }
    if (same.op == Op::constant && k_.values[static_cast<size_t>(same.results[0])] == DType::i64) {
      constants_[same.results[0]] = same.literal.as<int64_t>();
    }
    to.instructions.push_back(std::move(same));
  }

  /// Handles an instruction that known predicates simplify. False if they do not.
  bool folded(const Instruction& i, Copy& copy, Region& to) {
    switch (i.op) {
      case Op::scalar:
        return folded_scalar(i, copy, to);
      case Op::load:
      case Op::store:
        return folded_access(i, copy, to);
      case Op::if_: {
        const auto taken = decided(i.operands[0], copy);
        if (!taken) return false;
        const Region& r = i.regions[*taken ? 0 : 1];
        for (const Instruction& inner : r.instructions) {
          if (inner.op == Op::yield) {
            for (size_t k = 0; k < i.results.size(); ++k) alias(i.results[k], inner.operands[k], copy, to);
          } else if (!folded(inner, copy, to)) {
            copy_instruction(inner, copy, to);
          }
        }
        return true;
      }
      default:
        return false;
    }
  }

  bool folded_scalar(const Instruction& i, Copy& copy, Region& to) {
    const Id result = i.results[0];
    if (const auto range = copy.known->find(result); range != copy.known->end()) {
      const auto holds = range->second.holds(copy.low, copy.high);
      if (holds) copy.decided[result] = *holds;
      return holds.has_value();
    }
    switch (i.primitive) {
      case id_of<And>:
      case id_of<Or>: {
        if (k_.values[static_cast<size_t>(result)] != DType::bool_) return false;
        const bool absorbing = i.primitive == id_of<Or>;
        for (size_t k = 0; k < 2; ++k) {
          const auto known = decided(i.operands[k], copy);
          if (!known) continue;
          if (*known == absorbing) {
            copy.decided[result] = absorbing;
          } else {
            alias(result, i.operands[1 - k], copy, to);
          }
          return true;
        }
        return false;
      }
      case id_of<Not>: {
        const auto known = decided(i.operands[0], copy);
        if (known) copy.decided[result] = !*known;
        return known.has_value();
      }
      case id_of<Select>: {
        const auto known = decided(i.operands[0], copy);
        if (known) alias(result, i.operands[*known ? 1 : 2], copy, to);
        return known.has_value();
      }
      default:
        return false;
    }
  }

  bool folded_access(const Instruction& i, Copy& copy, Region& to) {
    const size_t at = i.op == Op::load ? 1 : 2;
    if (i.operands.size() <= at) return false;
    const auto known = decided(i.operands[at], copy);
    if (!known) return false;
    if (!*known) {
      if (i.op == Op::load) {
        const DType dtype = k_.values[static_cast<size_t>(i.results[0])];
        copy.values[i.results[0]] = constant(to, dtype, make_literal(dtype, int64_t{0}));
      }
      return true;
    }
    Instruction always = i;
    always.operands.clear();
    for (size_t k = 0; k < at; ++k) always.operands.push_back(i.operands[k]);
    copy_instruction(always, copy, to);
    return true;
  }

  Kernel& k_;
  size_t budget_ = 0;
  std::unordered_map<Id, int64_t> constants_;
};

}  // namespace

void split_loops(Kernel& kernel) { LoopSplitter(kernel).run(); }

}  // namespace calque::kernel
