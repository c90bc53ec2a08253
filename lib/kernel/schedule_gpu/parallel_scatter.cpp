#include "kernel/schedule_gpu/parallel_scatter.h"

#include <algorithm>

#include "kernel/ir/strides.h"
#include "kernel/schedule_gpu/loop_queries.h"
#include "primitives/elementwise/arithmetic.h"
#include "primitives/elementwise/compare_logic.h"
#include "primitives/elementwise/convert.h"

namespace calque::kernel {

using namespace primitives;

namespace {

std::optional<Combiner> atomic_combiner(PrimitiveId id) {
  if (id == id_of<Add>) return Combiner::add;
  if (id == id_of<Max>) return Combiner::max;
  if (id == id_of<Min>) return Combiner::min;
  if (id == id_of<And>) return Combiner::and_;
  if (id == id_of<Or>) return Combiner::or_;
  return std::nullopt;
}

bool is_atomic(Combiner combiner, DType d, bool deterministic) {
  if (d == DType::f32 || d == DType::f64) return combiner == Combiner::add && !deterministic;
  return is_integer(d) && size_of(d) >= 4;
}

class Finder {
 public:
  Finder(const Kernel& kernel, bool deterministic) : kernel_(kernel), deterministic_(deterministic) {}

  std::optional<Scatter> find(const Instruction& loop) {
    if (!is_loop(loop, LoopKind::sequential) || !loop.results.empty()) return std::nullopt;
    if (!walk(loop.regions[0]) || !s_.store) return std::nullopt;
    const int32_t buffer = s_.store->buffer;
    if (!s_.load && loads_[static_cast<size_t>(buffer)] != 0) return std::nullopt;
    if (!s_.load) {
      const Region& body = loop.regions[0];
      const bool alone = std::any_of(body.instructions.begin(), body.instructions.end(),
                                     [&](const Instruction& i) { return &i == s_.store; });
      const auto step = Strides(kernel_).along(body.parameters[0])(s_.store->operands[0]);
      s_.disjoint = alone && step && *step != 0;
      // Other updates are numbered in 32 bits.
      return s_.disjoint || loop.extent <= INT32_MAX ? std::optional(s_) : std::nullopt;
    }
    if (loads_[static_cast<size_t>(buffer)] != 1 || !match()) return std::nullopt;
    return s_;
  }

 private:
  bool walk(const Region& r) {
    loads_.resize(kernel_.buffers.size());
    for (const Instruction& i : r.instructions) {
      for (const Id o : i.operands) ++uses_[o];
      if (i.op == Op::load) {
        ++loads_[static_cast<size_t>(i.buffer)];
        load_of_[i.buffer] = &i;
      } else if (i.op == Op::store) {
        if (s_.store || !i.combiners.empty()) return false;
        s_.store = &i;
        stored_ = true;
      } else if (i.op == Op::scalar) {
        scalars_[i.results[0]] = &i;
      }
      if (is_parallel(i) || i.op == Op::if_ || i.op == Op::while_ || i.op == Op::loop) {
        const bool before = stored_;
        for (const Region& inner : i.regions)
          if (!walk(inner)) return false;
        if (stored_ && !before && !is_parallel(i)) return false;
      } else if (!i.regions.empty()) {
        return false;
      }
    }
    if (s_.store && load_of_.count(s_.store->buffer) != 0) s_.load = load_of_[s_.store->buffer];
    return true;
  }

  // store b[i], combine(load b[i], update), under one predicate.
  bool match() {
    const auto it = scalars_.find(s_.store->operands[1]);
    if (it == scalars_.end()) return false;
    const Instruction& combination = *it->second;
    const auto combiner = atomic_combiner(combination.primitive);
    const DType d = kernel_.buffers[static_cast<size_t>(s_.store->buffer)].dtype;
    if (!combiner || combination.operands.size() != 2 || !is_atomic(*combiner, d, deterministic_)) return false;
    const Id loaded = s_.load->results[0];
    const bool first = combination.operands[0] == loaded;
    if ((!first && combination.operands[1] != loaded) || combination.operands[0] == combination.operands[1])
      return false;
    if (uses_[loaded] != 1 || uses_[combination.results[0]] != 1) return false;
    if (s_.load->operands[0] != s_.store->operands[0]) return false;
    const bool guarded = s_.store->operands.size() > 2;
    if (guarded != (s_.load->operands.size() > 1)) return false;
    if (guarded && s_.load->operands[1] != s_.store->operands[2]) return false;
    s_.combines = true;
    s_.combiner = *combiner;
    s_.combination = &combination;
    s_.update = combination.operands[first ? 1 : 0];
    return true;
  }

  const Kernel& kernel_;
  bool deterministic_;
  Scatter s_;
  bool stored_ = false;
  std::vector<int> loads_;
  std::unordered_map<int32_t, const Instruction*> load_of_;
  std::unordered_map<Id, const Instruction*> scalars_;
  std::unordered_map<Id, int> uses_;
};

/// Copies the loop as a parallel one; `stores` emits the code that replaces the store. `number`: the loop's index.
using Store = std::function<void(Region& to, Id number)>;
void copy_as_parallel(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter,
                      const Store& stores) {
  Id number = kNone;
  const std::function<void(Region&, const Instruction&)> copy = [&](Region& into, const Instruction& i) {
    into.instructions.push_back(c.parallel(i.extent, [&](Region& body, Id index) {
      if (&i == &loop) number = index;
      c.set(i.regions[0].parameters[0], index);
      for (const Instruction& inner : i.regions[0].instructions) {
        if (&inner == scatter.store) {
          stores(body, number);
        } else if (&inner == scatter.load || &inner == scatter.combination) {
          continue;
        } else if (is_parallel(inner) && has_stores(inner.regions[0])) {
          copy(body, inner);
        } else {
          c.copy_into(body, inner);
        }
      }
    }));
  };
  copy(to, loop);
}

// A store to the scatter's index, under its predicate and, if given, `also`.
Instruction store_at(InstructionCopier& c, Region& to, const Scatter& scatter, int32_t buffer, Id value, Id also) {
  Instruction store;
  store.op = Op::store;
  store.buffer = buffer;
  store.operands.push_back(c.of(scatter.store->operands[0]));
  store.operands.push_back(value);
  Id predicate = scatter.store->operands.size() > 2 ? c.of(scatter.store->operands[2]) : kNone;
  if (also != kNone) predicate = predicate == kNone ? also : c.scalar(to, id_of<And>, DType::bool_, {predicate, also});
  if (predicate != kNone) store.operands.push_back(predicate);
  return store;
}

/// How often the loop stores.
int64_t num_updates(const Instruction& loop, const Scatter& scatter) {
  int64_t inner = 1;
  for (const Instruction& i : loop.regions[0].instructions)
    if (&i != scatter.store && is_parallel(i) && has_stores(i.regions[0])) inner = num_updates(i, scatter);
  return loop.extent * inner;
}

}  // namespace

std::optional<Scatter> scatter_of(const Kernel& kernel, const Instruction& loop, bool deterministic) {
  return Finder(kernel, deterministic).find(loop);
}

void update_in_parallel(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter) {
  copy_as_parallel(c, to, loop, scatter, [&](Region& body, Id) {
    const Id value = scatter.combines ? scatter.update : scatter.store->operands[1];
    Instruction store = store_at(c, body, scatter, c.buffer(scatter.store->buffer), c.of(value), kNone);
    if (scatter.combines) store.combiners.push_back(scatter.combiner);
    body.instructions.push_back(std::move(store));
  });
}

void clear_winners(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners,
                   int64_t extent) {
  const auto none = [&](Region& body) { return c.constant(body, DType::i32, Literal::of<int32_t>(-1)); };
  if (num_updates(loop, scatter) >= extent) {
    to.instructions.push_back(
        c.parallel(extent, [&](Region& body, Id index) { c.store(body, winners, index, none(body)); }));
    return;
  }
  // Several updates may store to one element. Less than -1 is cleared, too.
  copy_as_parallel(c, to, loop, scatter, [&](Region& body, Id) {
    Instruction store = store_at(c, body, scatter, winners, none(body), kNone);
    store.combiners.push_back(Combiner::min);
    body.instructions.push_back(std::move(store));
  });
}

void claim(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners) {
  copy_as_parallel(c, to, loop, scatter, [&](Region& body, Id number) {
    const Id mine = c.scalar(body, id_of<Convert>, DType::i32, {number});
    Instruction store = store_at(c, body, scatter, winners, mine, kNone);
    store.combiners.push_back(Combiner::max);
    body.instructions.push_back(std::move(store));
  });
}

void store_winners(InstructionCopier& c, Region& to, const Instruction& loop, const Scatter& scatter, int32_t winners) {
  copy_as_parallel(c, to, loop, scatter, [&](Region& body, Id number) {
    const Id mine = c.scalar(body, id_of<Convert>, DType::i32, {number});
    Instruction load;
    load.op = Op::load;
    load.buffer = winners;
    load.operands.push_back(c.of(scatter.store->operands[0]));
    if (scatter.store->operands.size() > 2) load.operands.push_back(c.of(scatter.store->operands[2]));
    load.results.push_back(c.fresh(DType::i32));
    const Id winner = load.results[0];
    body.instructions.push_back(std::move(load));
    const Id wins = c.scalar(body, id_of<Eq>, DType::bool_, {winner, mine});
    body.instructions.push_back(
        store_at(c, body, scatter, c.buffer(scatter.store->buffer), c.of(scatter.store->operands[1]), wins));
  });
}

}  // namespace calque::kernel
