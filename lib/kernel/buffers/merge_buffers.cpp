#include "kernel/buffers/merge_buffers.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/fork.h"
#include "kernel/ir/walk.h"
#include "kernel/schedule/schedule.h"
#include "primitives/list.h"

namespace calque::kernel {

namespace {

template <class Visit>
void for_each_buffer(const Step& step, const Visit& visit) {
  for (const View& v : step.views) {
    visit(v.buffer);
    for (const View::Choice& c : v.choices) visit(c.buffer);
  }
  for (const auto& block : step.blocks)
    for (const Step& s : block) for_each_buffer(s, visit);
}

/// The number of the kernel's buffer that is bound to the whole buffer, when it is bound once; -1 when it is not bound,
/// -2 when slices of it are bound.
constexpr int32_t kAbsent = -1, kSliced = -2;
int32_t position_of(const Step& step, int32_t buffer) {
  int32_t found = kAbsent;
  for (size_t i = 0; i < step.views.size(); ++i) {
    if (step.views[i].buffer != buffer) continue;
    const View& v = step.views[i];
    const bool whole = v.offset == 0 && v.terms.empty() && v.choices.empty();
    found = whole && found == kAbsent ? static_cast<int32_t>(i) : kSliced;
  }
  return found;
}

/// An instruction and the number of its region that contains an access.
struct Enclosing {
  const Instruction* instruction;
  size_t region;
};
bool same_instruction(const Enclosing& a, const Enclosing& b) { return a.instruction == b.instruction; }

/// A load or store and its enclosing instructions, from the outermost.
struct Access {
  Id index = kNone;
  size_t order = 0;
  std::vector<Enclosing> enclosing;
};

struct Accesses {
  std::vector<Access> loads, stores;
};

/// Whether the runs of the region may access distinct elements, by the kind of loop: a parallel loop or reduction, or
/// the epilogue of a contraction, which runs once per element of the result.
bool has_distinct_elements(const Enclosing& e) {
  const Instruction& i = *e.instruction;
  constexpr size_t kEpilogue = 2;
  return is_parallel(i) || is_reduction(i) || (i.op == Op::contraction && e.region == kEpilogue);
}

/// Loads of one buffer and stores to another, in program order.
Accesses accesses(const Kernel& kernel, int32_t loaded, int32_t stored) {
  Accesses out;
  size_t order = 0;
  std::vector<Enclosing> enclosing;
  const std::function<void(const Region&)> visit = [&](const Region& region) {
    for (const Instruction& i : region.instructions) {
      ++order;
      if (i.op == Op::load && i.buffer == loaded) out.loads.push_back({i.operands[0], order, enclosing});
      if (i.op == Op::store && i.buffer == stored) out.stores.push_back({i.operands[0], order, enclosing});
      if (i.regions.empty()) continue;
      // The regions of an if run at most once per run of the if: only loops count.
      for (size_t r = 0; r < i.regions.size(); ++r) {
        if (i.op != Op::if_) enclosing.push_back({&i, r});
        visit(i.regions[r]);
        if (i.op != Op::if_) enclosing.pop_back();
      }
    }
  };
  visit(kernel.body);
  return out;
}

/// Index expressions of a kernel.
class Indices {
 public:
  explicit Indices(const Kernel& kernel) : kernel_(kernel) {}

  enum class Relation : uint8_t { unknown, same, other_of_row };

  /// Of two indices: the same one, or different elements of one row: base + a and base + b, where base is a multiple of
  /// the length of rows, which a and b do not reach.
  Relation relation(Id x, Id y) {
    if (x == y) return Relation::same;
    const Element first = element_of(x), second = element_of(y);
    if (first.base != second.base) return Relation::unknown;
    if (first.offset == second.offset) return Relation::same;
    const bool in_row = std::min(first.offset, second.offset) >= 0 &&
                        std::max(first.offset, second.offset) < divisor(first.base, kDepth);
    return in_row ? Relation::other_of_row : Relation::unknown;
  }

 private:
  struct Element {
    Id base;
    int64_t offset;
  };
  static constexpr int kDepth = 8;

  const Instruction* definition(Id id) {
    if (defined_.empty()) {
      defined_.resize(kernel_.values.size());
      walk(kernel_.body, [&](const Instruction& i) {
        if (i.op == Op::constant || i.op == Op::scalar) defined_[i.results[0]] = &i;
      });
    }
    return defined_[id];
  }
  bool is_scalar(const Instruction* i, PrimitiveId primitive) {
    return i != nullptr && i->op == Op::scalar && i->primitive == primitive;
  }
  std::optional<int64_t> constant(Id id) {
    const Instruction* const i = definition(id);
    if (i == nullptr || i->op != Op::constant) return std::nullopt;
    return i->literal.as<int64_t>();
  }
  Element element_of(Id id) {
    const Instruction* const i = definition(id);
    if (!is_scalar(i, primitives::id_of<primitives::Add>)) return {id, 0};
    if (const auto offset = constant(i->operands[1])) return {i->operands[0], *offset};
    if (const auto offset = constant(i->operands[0])) return {i->operands[1], *offset};
    return {id, 0};
  }
  /// A number that divides the value.
  int64_t divisor(Id id, int depth) {
    if (const auto value = constant(id)) return *value == 0 ? INT64_MAX : std::abs(*value);
    const Instruction* const i = definition(id);
    if (depth == 0 || i == nullptr) return 1;
    if (is_scalar(i, primitives::id_of<primitives::Mul>))
      return std::max(divisor(i->operands[0], depth - 1), divisor(i->operands[1], depth - 1));
    if (!is_scalar(i, primitives::id_of<primitives::Add>)) return 1;
    const int64_t a = divisor(i->operands[0], depth - 1), b = divisor(i->operands[1], depth - 1);
    return a == INT64_MAX ? b : b == INT64_MAX ? a : std::gcd(a, b);
  }

  const Kernel& kernel_;
  std::vector<const Instruction*> defined_;  // by value: the scalar instruction or constant that defines it
};

/// Whether the load would never read a value that the store has written if their buffers were merged. Equal indices are
/// equal offsets when the buffers have the same type.
bool comes_before(const Access& load, const Access& store, bool same_type, Indices& indices) {
  const auto shared =
      static_cast<size_t>(std::mismatch(load.enclosing.begin(), load.enclosing.end(), store.enclosing.begin(),
                                        store.enclosing.end(), same_instruction)
                              .first -
                          load.enclosing.begin());
  const bool is_before = load.order < store.order;
  if (shared == 0) return is_before;
  if (!same_type) return false;
  // In a loop that encloses both, an earlier iteration's store must be to another element: iterations of parallel loops
  // and reductions write each element once, and this one reads the element that it writes, or another one of the row
  // that only it writes to.
  const Indices::Relation relation = indices.relation(load.index, store.index);
  if (relation == Indices::Relation::unknown || (relation == Indices::Relation::same && !is_before)) return false;
  const auto end = load.enclosing.begin() + static_cast<std::ptrdiff_t>(shared);
  return shared == store.enclosing.size() && std::all_of(load.enclosing.begin(), end, has_distinct_elements) &&
         std::all_of(store.enclosing.begin(), store.enclosing.end(), has_distinct_elements);
}

bool may_share(const Kernel& kernel, int32_t from, int32_t to) {
  const Buffer &read = kernel.buffers[static_cast<size_t>(from)], &written = kernel.buffers[static_cast<size_t>(to)];
  const Accesses both = accesses(kernel, from, to);
  Indices indices(kernel);
  for (const Access& load : both.loads)
    for (const Access& store : both.stores)
      if (!comes_before(load, store, read.dtype == written.dtype, indices)) return false;
  // What a kernel reads of `to` it wrote itself, or is there before; both are as they were. One that also writes `from`
  // has other ordering constraints.
  return !read.written;
}

/// Whether a step may write to a buffer that it uses; only for kernels can this be excluded.
bool may_write(const Program& program, const Step& step, int32_t buffer) {
  if (step.kind != StepKind::kernel) return true;
  const Kernel& kernel = program.kernels[static_cast<size_t>(step.kernel)];
  for (size_t i = 0; i < step.views.size(); ++i) {
    if (!kernel.buffers[i].written) continue;
    if (step.views[i].buffer == buffer) return true;
    for (const View::Choice& c : step.views[i].choices)
      if (c.buffer == buffer) return true;
  }
  return false;
}

/// Replaces the kernel's buffer `to`, which was removed, by `from` and renumbers the buffers after it.
void replace_buffer(Region& body, int32_t from, int32_t to) {
  walk(body, [&](Instruction& i) {
    if (i.buffer == to) i.buffer = from;
    if (i.buffer > to) --i.buffer;
    for (int32_t& local : i.locals)
      if (local > to) --local;
  });
}

/// Removes stores of a value to the element it was loaded from. True if there were any.
bool drop_redundant_stores(Kernel& kernel, int32_t buffer) {
  size_t dropped = 0;
  std::vector<std::pair<Id, Id>> loaded;  // index and value
  walk_regions(kernel.body, [&](Region& region) {
    for (const Instruction& i : region.instructions) {
      // A predicated load is zero where the predicate is false.
      if (i.op == Op::load && i.buffer == buffer && i.operands.size() == 1)
        loaded.emplace_back(i.operands[0], i.results[0]);
    }
    dropped += std::erase_if(region.instructions, [&](const Instruction& i) {
      return i.op == Op::store && i.buffer == buffer &&
             std::find(loaded.begin(), loaded.end(), std::pair(i.operands[0], i.operands[1])) != loaded.end();
    });
  });
  return dropped > 0;
}

/// Unlike has_stores of schedule_gpu/loop_queries.h, this does not count a contraction whose store was removed.
bool has_store(const Region& region) { return contains(region, is_store); }

/// Removes parallel loops without stores.
void drop_empty_loops(Region& region) {
  for (Instruction& i : region.instructions)
    for (Region& r : i.regions) drop_empty_loops(r);
  std::erase_if(region.instructions, [](const Instruction& i) {
    return is_parallel(i) && std::none_of(i.regions.begin(), i.regions.end(), has_store);
  });
}

void rename_views(Step& step, int32_t from, int32_t to) {
  const auto rename = [=](View& v) {
    if (v.buffer == to) v.buffer = from;
    for (View::Choice& c : v.choices)
      if (c.buffer == to) c.buffer = from;
  };
  for (View& v : step.views) rename(v);
  for (ArrayCopy& c : step.array_copies) {
    rename(c.to);
    rename(c.from);
  }
}

/// Merges two buffers of a kernel step. False when the kernel has no stores left.
bool merge_in_kernel(Kernel& kernel, Step& step, int32_t from, int32_t to) {
  const int32_t f = position_of(step, from), t = position_of(step, to);
  const auto dtype_of = [&](int32_t b) { return kernel.buffers[static_cast<size_t>(b)].dtype; };
  // Buffers of different types remain two buffers of the kernel over the same memory.
  if (f < 0 || t < 0 || dtype_of(f) != dtype_of(t)) return true;
  kernel.buffers[static_cast<size_t>(f)].written = true;
  kernel.buffers.erase(kernel.buffers.begin() + t);
  step.views.erase(step.views.begin() + t);
  const int32_t kept = f > t ? f - 1 : f;
  replace_buffer(kernel.body, f, t);
  if (!drop_redundant_stores(kernel, kept)) return true;
  drop_empty_loops(kernel.body);
  kernel.bytes_read = kernel.bytes_written = kernel.flops = 0;
  schedule(kernel);
  return has_store(kernel.body);
}

}  // namespace

bool may_overwrite_operand(const Program& program, const Step& step) {
  if (step.kind != StepKind::host_call) return false;
  const HostFunctionRef& f = program.host_functions[static_cast<size_t>(step.host_function)];
  if (!f.collective || f.phase != CallPhase::whole || step.views.size() != 2 || step.views[0] == step.views[1])
    return false;
  // Of the others whose operand and result have one type MPI copies the operand first: MPI_Sendrecv_replace,
  // MPI_Alltoall and MPI_Reduce in place take longer than with two arrays.
  const Collective kind = f.collective->kind;
  return kind == Collective::all_reduce || kind == Collective::broadcast || kind == Collective::scan;
}

BufferMerger::BufferMerger(Program& program, std::vector<Step>& steps)
    : program_(program), steps_(steps), dropped_(steps.size(), false) {
  for (StepId i = 0; i < steps.size(); ++i) {
    order_.push_back(i);
    position_.push_back(i);
    for_each_buffer(steps[i], [&](int32_t buffer) {
      std::vector<StepId>& list = users_[buffer];
      if (list.empty() || list.back() != i) list.push_back(i);
    });
  }
}

BufferMerger::~BufferMerger() {
  blocks_.clear();  // removes the dropped steps of the blocks
  size_t next = 0;
  std::erase_if(steps_, [&](const Step&) { return dropped_[order_[next++]]; });
}

const std::vector<BufferMerger::StepId>& BufferMerger::users(int32_t buffer) const {
  const auto& none = process_wide([] { return new const std::vector<StepId>; });
  const auto at = users_.find(buffer);
  return at == users_.end() ? none : at->second;
}

BufferMerger::Range BufferMerger::range_of(int32_t from, int32_t to) {
  Range r{steps_.size()};
  for (const StepId id : users(to)) {
    ++visited_;
    if (!dropped_[id]) r.first_write = std::min(r.first_write, position_[id]);
  }
  for (const StepId id : users(from)) {
    ++visited_;
    if (dropped_[id]) continue;
    r.last_read = std::max(r.last_read, position_[id]);
    r.read = true;
  }
  return r;
}

/// Whether the kernel step at `writer` may be moved after all steps up to `last`.
bool BufferMerger::independent(size_t writer, size_t last) {
  const Step& kernel = steps_[writer];
  return std::all_of(kernel.views.begin(), kernel.views.end(), [&](const View& v) {
    if (!v.choices.empty()) return false;
    const bool writes = may_write(program_, kernel, v.buffer);
    const std::vector<StepId>& others = users(v.buffer);
    return std::none_of(others.begin(), others.end(), [&](StepId id) {
      ++visited_;
      const size_t at = position_[id];
      return !dropped_[id] && at > writer && at <= last && (writes || may_write(program_, steps_[at], v.buffer));
    });
  });
}

void BufferMerger::move_after(size_t writer, size_t last) {
  const auto rotate = [&](auto& list) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(writer);
    std::rotate(begin, begin + 1, list.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  };
  rotate(steps_);
  rotate(order_);
  for (size_t at = writer; at <= last; ++at) position_[order_[at]] = at;
}

/// Moves the kernel that writes `to` after the last step that reads `from`, where dependences allow it.
void BufferMerger::delay_write(int32_t from, int32_t to) {
  const Range r = range_of(from, to);
  if (!r.read || r.last_read <= r.first_write || steps_[r.first_write].kind != StepKind::kernel) return;
  if (independent(r.first_write, r.last_read)) move_after(r.first_write, r.last_read);
}

BufferMerger& BufferMerger::block(StepId id, size_t number) {
  auto& all = blocks_[id];
  Step& step = steps_[position_[id]];
  all.resize(step.blocks.size());
  if (!all[number]) all[number] = std::make_unique<BufferMerger>(program_, step.blocks[number]);
  return *all[number];
}

bool BufferMerger::can_merge(int32_t from, int32_t to) {
  const auto [first_write, last_read, read] = range_of(from, to);
  if (!read || last_read < first_write) return true;
  if (last_read > first_write) return false;
  const Step& step = steps_[first_write];
  if (step.kind == StepKind::branch) {
    if (step.views[0].buffer == from || step.views[0].buffer == to) return false;
    for (size_t b = 0; b < step.blocks.size(); ++b)
      if (!block(order_[first_write], b).can_merge(from, to)) return false;
    return true;
  }
  if (may_overwrite_operand(program_, step)) return position_of(step, from) == 0 && position_of(step, to) == 1;
  if (step.kind != StepKind::kernel) return false;
  const int32_t f = position_of(step, from), t = position_of(step, to);
  return f >= 0 && t >= 0 && may_share(program_.kernels[static_cast<size_t>(step.kernel)], f, t);
}

int32_t BufferMerger::result_of_last_call(int32_t buffer) const {
  size_t last = 0;
  for (const StepId id : users(buffer))
    if (!dropped_[id]) last = std::max(last, position_[id]);
  if (steps_.empty() || !may_overwrite_operand(program_, steps_[last]) || position_of(steps_[last], buffer) != 0)
    return -1;
  const int32_t result = steps_[last].views[1].buffer;
  const bool is_whole = position_of(steps_[last], result) == 1;
  return is_whole && program_.buffers[static_cast<size_t>(result)].kind == BufferKind::workspace ? result : -1;
}

void BufferMerger::replace(StepId id, int32_t from, int32_t to) {
  Step& step = steps_[position_[id]];
  ++visited_;
  for (size_t b = 0; b < step.blocks.size(); ++b) block(id, b).replace(from, to);
  if (step.kind == StepKind::kernel)
    dropped_[id] = !merge_in_kernel(program_.kernels[static_cast<size_t>(step.kernel)], step, from, to);
  rename_views(step, from, to);
}

void BufferMerger::replace(int32_t from, int32_t to) {
  const auto found = users_.find(to);
  if (found == users_.end()) return;
  const std::vector<StepId> moved = std::move(found->second);
  users_.erase(found);
  std::vector<StepId>& list = users_[from];
  for (const StepId id : moved) {
    if (dropped_[id]) continue;
    replace(id, from, to);
    if (!dropped_[id] && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  }
}

bool BufferMerger::merge(int32_t from, int32_t to) {
  delay_write(from, to);
  if (!can_merge(from, to)) return false;
  replace(from, to);
  return true;
}

}  // namespace calque::kernel
