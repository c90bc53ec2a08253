#include "kernel/buffers/merge_buffers.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kernel/schedule/schedule.h"

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

/// The position of the buffer among a kernel's, when it is bound as a whole and once; -1 when it is not bound, -2 when
/// it is bound in parts.
constexpr int32_t kAbsent = -1, kInParts = -2;
int32_t position_of(const Step& step, int32_t buffer) {
  int32_t found = kAbsent;
  for (size_t i = 0; i < step.views.size(); ++i) {
    if (step.views[i].buffer != buffer) continue;
    const View& v = step.views[i];
    const bool whole = v.offset == 0 && v.terms.empty() && v.choices.empty();
    found = whole && found == kAbsent ? static_cast<int32_t>(i) : kInParts;
  }
  return found;
}

/// An instruction with regions, and which of them an access is in.
struct Enclosing {
  const Instruction* instruction;
  size_t region;
};
bool same_instruction(const Enclosing& a, const Enclosing& b) { return a.instruction == b.instruction; }

/// A load or store and the instructions with regions around it, from the outermost.
struct Access {
  Id index = kNone;
  size_t order = 0;
  std::vector<Enclosing> around;
};

struct Accesses {
  std::vector<Access> loads, stores;
};

/// A loop each of whose iterations has elements of its own, or the region of a contraction that runs once for each
/// element of the result.
bool has_own_elements(const Enclosing& e) {
  const Instruction& i = *e.instruction;
  constexpr size_t kEpilogue = 2;
  return is_parallel(i) || is_reduction(i) || (i.op == Op::contraction && e.region == kEpilogue);
}

/// Loads of one buffer and stores to another, in the order of the text.
Accesses accesses(const Kernel& kernel, int32_t loaded, int32_t stored) {
  Accesses out;
  size_t order = 0;
  std::vector<Enclosing> around;
  const std::function<void(const Region&)> walk = [&](const Region& region) {
    for (const Instruction& i : region.instructions) {
      ++order;
      if (i.op == Op::load && i.buffer == loaded) out.loads.push_back({i.operands[0], order, around});
      if (i.op == Op::store && i.buffer == stored) out.stores.push_back({i.operands[0], order, around});
      if (i.regions.empty()) continue;
      // What is behind a condition runs at most once where the condition stands: only loops count.
      for (size_t r = 0; r < i.regions.size(); ++r) {
        if (i.op != Op::if_) around.push_back({&i, r});
        walk(i.regions[r]);
        if (i.op != Op::if_) around.pop_back();
      }
    }
  };
  walk(kernel.body);
  return out;
}

/// Whether the load never sees what the store has written, were they of one buffer. Equal indices are equal offsets
/// when the buffers have the same type.
bool comes_before(const Access& load, const Access& store, bool same_type) {
  if (load.order > store.order) return false;
  const auto shared = static_cast<size_t>(
      std::mismatch(load.around.begin(), load.around.end(), store.around.begin(), store.around.end(), same_instruction)
          .first -
      load.around.begin());
  if (shared == 0) return true;
  if (!same_type) return false;
  // In a loop around both, an earlier iteration's store must be elsewhere: iterations of parallel loops and reductions
  // write each element once, and this one reads the element that it writes.
  const auto end = load.around.begin() + static_cast<std::ptrdiff_t>(shared);
  return load.index == store.index && shared == store.around.size() &&
         std::all_of(load.around.begin(), end, has_own_elements) &&
         std::all_of(store.around.begin(), store.around.end(), has_own_elements);
}

bool may_share(const Kernel& kernel, int32_t from, int32_t to) {
  const Buffer &read = kernel.buffers[static_cast<size_t>(from)], &written = kernel.buffers[static_cast<size_t>(to)];
  const Accesses both = accesses(kernel, from, to);
  for (const Access& load : both.loads)
    for (const Access& store : both.stores)
      if (!comes_before(load, store, read.dtype == written.dtype)) return false;
  // A kernel that also writes what it reads from, or reads what it writes, has an order of its own.
  return !read.written && accesses(kernel, to, from).loads.empty();
}

/// Whether a step may write to a buffer that it touches: for certain only kernels are known not to.
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

/// Renames the kernel's buffer `to`, which goes, to `from`; those behind it move up.
void rename(Region& region, int32_t from, int32_t to) {
  for (Instruction& i : region.instructions) {
    if (i.buffer == to) i.buffer = from;
    if (i.buffer > to) --i.buffer;
    for (Region& r : i.regions) rename(r, from, to);
  }
}

/// Takes out stores of what was loaded from the very same element. True when there were such.
bool drop_idle_stores(Kernel& kernel, int32_t buffer) {
  size_t dropped = 0;
  std::vector<std::pair<Id, Id>> loaded;  // index and value
  const std::function<void(Region&)> walk = [&](Region& region) {
    for (const Instruction& i : region.instructions) {
      // A load behind a condition is zero where that does not hold.
      if (i.op == Op::load && i.buffer == buffer && i.operands.size() == 1)
        loaded.emplace_back(i.operands[0], i.results[0]);
    }
    dropped += std::erase_if(region.instructions, [&](const Instruction& i) {
      return i.op == Op::store && i.buffer == buffer &&
             std::find(loaded.begin(), loaded.end(), std::pair(i.operands[0], i.operands[1])) != loaded.end();
    });
    for (Instruction& i : region.instructions)
      for (Region& r : i.regions) walk(r);
  };
  walk(kernel.body);
  return dropped > 0;
}

/// Unlike has_stores of schedule_gpu/loop_queries.h, this does not count a contraction whose store was taken out.
bool has_store(const Region& region) {
  return contains(region, [](const Instruction& i) { return i.op == Op::store; });
}

/// Takes out parallel loops that store nothing.
void drop_idle_loops(Region& region) {
  for (Instruction& i : region.instructions)
    for (Region& r : i.regions) drop_idle_loops(r);
  std::erase_if(region.instructions, [](const Instruction& i) {
    return is_parallel(i) && std::none_of(i.regions.begin(), i.regions.end(), has_store);
  });
}

void rename_views(Step& step, int32_t from, int32_t to) {
  for (View& v : step.views) {
    if (v.buffer == to) v.buffer = from;
    for (View::Choice& c : v.choices)
      if (c.buffer == to) c.buffer = from;
  }
}

/// Makes two buffers of a kernel's step one. False when the kernel has nothing left to store.
bool merge_in_kernel(Kernel& kernel, Step& step, int32_t from, int32_t to) {
  const int32_t f = position_of(step, from), t = position_of(step, to);
  const auto dtype_of = [&](int32_t b) { return kernel.buffers[static_cast<size_t>(b)].dtype; };
  // Of different types they stay two buffers of the kernel in the same memory.
  if (f < 0 || t < 0 || dtype_of(f) != dtype_of(t)) return true;
  kernel.buffers[static_cast<size_t>(f)].written = true;
  kernel.buffers.erase(kernel.buffers.begin() + t);
  step.views.erase(step.views.begin() + t);
  const int32_t kept = f > t ? f - 1 : f;
  rename(kernel.body, f, t);
  if (!drop_idle_stores(kernel, kept)) return true;
  drop_idle_loops(kernel.body);
  kernel.bytes_read = kernel.bytes_written = kernel.flops = 0;
  schedule(kernel);
  return has_store(kernel.body);
}

}  // namespace

BufferMerger::BufferMerger(Program& program, std::vector<Step>& steps)
    : program_(program), steps_(steps), dropped_(steps.size(), false) {
  for (StepId i = 0; i < steps.size(); ++i) {
    order_.push_back(i);
    position_.push_back(i);
    for_each_buffer(steps[i], [&](int32_t buffer) {
      std::vector<StepId>& list = touching_[buffer];
      if (list.empty() || list.back() != i) list.push_back(i);
    });
  }
}

BufferMerger::~BufferMerger() {
  blocks_.clear();  // which takes out what was dropped from the blocks
  size_t next = 0;
  std::erase_if(steps_, [&](const Step&) { return dropped_[order_[next++]]; });
}

const std::vector<BufferMerger::StepId>& BufferMerger::touching(int32_t buffer) const {
  static const std::vector<StepId> none;
  const auto at = touching_.find(buffer);
  return at == touching_.end() ? none : at->second;
}

BufferMerger::Range BufferMerger::range_of(int32_t from, int32_t to) {
  Range r{steps_.size()};
  for (const StepId id : touching(to)) {
    ++visited_;
    if (!dropped_[id]) r.first_write = std::min(r.first_write, position_[id]);
  }
  for (const StepId id : touching(from)) {
    ++visited_;
    if (dropped_[id]) continue;
    r.last_read = std::max(r.last_read, position_[id]);
    r.read = true;
  }
  return r;
}

/// Whether the kernel's step at `writer` may come behind all steps up to `last`.
bool BufferMerger::independent(size_t writer, size_t last) {
  const Step& kernel = steps_[writer];
  return std::all_of(kernel.views.begin(), kernel.views.end(), [&](const View& v) {
    if (!v.choices.empty()) return false;
    const bool writes = may_write(program_, kernel, v.buffer);
    const std::vector<StepId>& others = touching(v.buffer);
    return std::none_of(others.begin(), others.end(), [&](StepId id) {
      ++visited_;
      const size_t at = position_[id];
      return !dropped_[id] && at > writer && at <= last && (writes || may_write(program_, steps_[at], v.buffer));
    });
  });
}

void BufferMerger::move_behind(size_t writer, size_t last) {
  const auto rotate = [&](auto& list) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(writer);
    std::rotate(begin, begin + 1, list.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  };
  rotate(steps_);
  rotate(order_);
  for (size_t at = writer; at <= last; ++at) position_[order_[at]] = at;
}

/// The kernel that writes `to` comes behind the last step that reads `from`, where that changes nothing.
void BufferMerger::write_late(int32_t from, int32_t to) {
  const Range r = range_of(from, to);
  if (!r.read || r.last_read <= r.first_write || steps_[r.first_write].kind != StepKind::kernel) return;
  if (independent(r.first_write, r.last_read)) move_behind(r.first_write, r.last_read);
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
  if (step.kind != StepKind::kernel) return false;
  const int32_t f = position_of(step, from), t = position_of(step, to);
  return f >= 0 && t >= 0 && may_share(program_.kernels[static_cast<size_t>(step.kernel)], f, t);
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
  const auto found = touching_.find(to);
  if (found == touching_.end()) return;
  const std::vector<StepId> moved = std::move(found->second);
  touching_.erase(found);
  std::vector<StepId>& list = touching_[from];
  for (const StepId id : moved) {
    if (dropped_[id]) continue;
    replace(id, from, to);
    if (!dropped_[id] && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  }
}

bool BufferMerger::merge(int32_t from, int32_t to) {
  write_late(from, to);
  if (!can_merge(from, to)) return false;
  replace(from, to);
  return true;
}

}  // namespace calque::kernel
