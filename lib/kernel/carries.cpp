#include "kernel/carries.h"

#include <algorithm>
#include <functional>

#include "kernel/schedule.h"

namespace calque::kernel {

namespace {

bool touches(const Step& step, int32_t buffer) {
  for (const View& v : step.views) {
    if (v.buffer == buffer) return true;
    for (const View::Choice& c : v.choices)
      if (c.buffer == buffer) return true;
  }
  for (const auto& block : step.blocks)
    for (const Step& s : block)
      if (touches(s, buffer)) return true;
  return false;
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

/// A load or store and the instructions with regions around it, from the outermost.
struct Access {
  Id index = kNone;
  size_t order = 0;
  std::vector<const Instruction*> around;
};

struct Accesses {
  std::vector<Access> loads, stores;
};

bool is_parallel(const Instruction& i) { return i.op == Op::loop && i.loop == LoopKind::parallel; }
/// A loop each of whose iterations has elements of its own.
bool has_own_elements(const Instruction& i) {
  return is_parallel(i) || (i.op == Op::loop && i.loop == LoopKind::reduction);
}

/// Loads of one buffer and stores to another, in the order of the text.
Accesses accesses(const Kernel& kernel, int32_t loaded, int32_t stored) {
  Accesses out;
  size_t order = 0;
  std::vector<const Instruction*> around;
  const std::function<void(const Region&)> walk = [&](const Region& region) {
    for (const Instruction& i : region.instructions) {
      ++order;
      if (i.op == Op::load && i.buffer == loaded) out.loads.push_back({i.operands[0], order, around});
      if (i.op == Op::store && i.buffer == stored) out.stores.push_back({i.operands[0], order, around});
      if (i.regions.empty()) continue;
      // What is behind a condition runs at most once where the condition stands: only loops count.
      if (i.op != Op::if_) around.push_back(&i);
      for (const Region& r : i.regions) walk(r);
      if (i.op != Op::if_) around.pop_back();
    }
  };
  walk(kernel.body);
  return out;
}

/// Whether the load never sees what the store has written, were they of one buffer. Equal indices are equal places when
/// the buffers have the same type.
bool comes_before(const Access& load, const Access& store, bool same_type) {
  if (load.order > store.order) return false;
  const size_t shared = static_cast<size_t>(
      std::mismatch(load.around.begin(), load.around.end(), store.around.begin(), store.around.end()).first -
      load.around.begin());
  if (shared == 0) return true;
  if (!same_type) return false;
  // In a loop around both, an earlier iteration's store must be elsewhere: iterations of parallel loops and reductions
  // write each element once, and this one reads the element that it writes.
  return load.index == store.index && shared == store.around.size() &&
         std::all_of(store.around.begin(), store.around.end(),
                     [](const Instruction* i) { return has_own_elements(*i); });
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

/// Whether a step may write to a buffer: for certain only kernels are known not to.
bool may_write(const Program& program, const Step& step, int32_t buffer) {
  if (step.kind != StepKind::kernel) return touches(step, buffer);
  const Kernel& kernel = program.kernels[static_cast<size_t>(step.kernel)];
  for (size_t i = 0; i < step.views.size(); ++i) {
    if (!kernel.buffers[i].written) continue;
    if (step.views[i].buffer == buffer) return true;
    for (const View::Choice& c : step.views[i].choices)
      if (c.buffer == buffer) return true;
  }
  return false;
}

/// Whether a kernel's step and another one may change places.
bool independent(const Program& program, const Step& kernel, const Step& other) {
  return std::all_of(kernel.views.begin(), kernel.views.end(), [&](const View& v) {
    if (!v.choices.empty()) return false;
    return may_write(program, kernel, v.buffer) ? !touches(other, v.buffer) : !may_write(program, other, v.buffer);
  });
}

/// Where the steps read `from` last and touch `to` first.
struct Range {
  size_t first_write = 0, last_read = 0;
  bool read = false;
};
Range range_of(const std::vector<Step>& steps, int32_t from, int32_t to) {
  Range r{steps.size()};
  for (size_t i = 0; i < steps.size(); ++i) {
    if (touches(steps[i], to)) r.first_write = std::min(r.first_write, i);
    if (touches(steps[i], from)) r.last_read = i, r.read = true;
  }
  return r;
}

/// The kernel that writes `to` comes behind the last step that reads `from`, where that changes nothing.
void write_late(const Program& program, std::vector<Step>& steps, int32_t from, int32_t to) {
  const Range r = range_of(steps, from, to);
  if (!r.read || r.last_read <= r.first_write || steps[r.first_write].kind != StepKind::kernel) return;
  const auto writer = steps.begin() + static_cast<std::ptrdiff_t>(r.first_write);
  const auto end = steps.begin() + static_cast<std::ptrdiff_t>(r.last_read) + 1;
  if (std::all_of(writer + 1, end, [&](const Step& other) { return independent(program, *writer, other); }))
    std::rotate(writer, writer + 1, end);
}

bool can_merge(const Program& program, const std::vector<Step>& steps, int32_t from, int32_t to) {
  const auto [first_write, last_read, read] = range_of(steps, from, to);
  if (!read || last_read < first_write) return true;
  if (last_read > first_write) return false;
  const Step& step = steps[first_write];
  if (step.kind == StepKind::branch) {
    if (step.views[0].buffer == from || step.views[0].buffer == to) return false;
    return std::all_of(step.blocks.begin(), step.blocks.end(),
                       [&](const auto& block) { return can_merge(program, block, from, to); });
  }
  if (step.kind != StepKind::kernel) return false;
  const int32_t f = position_of(step, from), t = position_of(step, to);
  return f >= 0 && t >= 0 && may_share(program.kernels[static_cast<size_t>(step.kernel)], f, t);
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

bool stores(const Region& region) {
  return std::any_of(region.instructions.begin(), region.instructions.end(), [](const Instruction& i) {
    return i.op == Op::store || std::any_of(i.regions.begin(), i.regions.end(), stores);
  });
}

/// Takes out parallel loops that store nothing.
void drop_idle_loops(Region& region) {
  for (Instruction& i : region.instructions)
    for (Region& r : i.regions) drop_idle_loops(r);
  std::erase_if(region.instructions, [](const Instruction& i) {
    return is_parallel(i) && std::none_of(i.regions.begin(), i.regions.end(), stores);
  });
}

void merge(Program& program, std::vector<Step>& steps, int32_t from, int32_t to) {
  for (Step& step : steps) {
    for (auto& block : step.blocks) merge(program, block, from, to);
    if (step.kind == StepKind::kernel) {
      const int32_t f = position_of(step, from), t = position_of(step, to);
      Kernel& kernel = program.kernels[static_cast<size_t>(step.kernel)];
      const auto dtype_of = [&](int32_t b) { return kernel.buffers[static_cast<size_t>(b)].dtype; };
      // Of different types they stay two buffers of the kernel in one place.
      if (f >= 0 && t >= 0 && dtype_of(f) == dtype_of(t)) {
        kernel.buffers[static_cast<size_t>(f)].written = true;
        kernel.buffers.erase(kernel.buffers.begin() + t);
        step.views.erase(step.views.begin() + t);
        const int32_t kept = f > t ? f - 1 : f;
        rename(kernel.body, f, t);
        if (drop_idle_stores(kernel, kept)) {
          drop_idle_loops(kernel.body);
          kernel.bytes_read = kernel.bytes_written = kernel.flops = 0;
          schedule(kernel);
        }
      }
    }
    for (View& v : step.views) {
      if (v.buffer == to) v.buffer = from;
      for (View::Choice& c : v.choices)
        if (c.buffer == to) c.buffer = from;
    }
  }
  std::erase_if(steps, [&](const Step& s) {
    return s.kind == StepKind::kernel && !stores(program.kernels[static_cast<size_t>(s.kernel)].body);
  });
}

void for_each_view(std::vector<Step>& steps, const std::function<void(View&)>& visit) {
  for (Step& step : steps) {
    for (View& v : step.views) visit(v);
    for (auto& block : step.blocks) for_each_view(block, visit);
  }
}

void for_each_step(std::vector<Step>& steps, const std::function<void(Step&)>& visit) {
  for (Step& step : steps) {
    visit(step);
    for (auto& block : step.blocks) for_each_step(block, visit);
  }
}

}  // namespace

bool merge_buffers(Program& program, std::vector<Step>& steps, int32_t from, int32_t to) {
  write_late(program, steps, from, to);
  if (!can_merge(program, steps, from, to)) return false;
  merge(program, steps, from, to);
  return true;
}

void place_buffer(std::vector<Step>& steps, int32_t buffer, const View& place) {
  for_each_view(steps, [&](View& v) {
    if (v.buffer != buffer) return;
    View moved = place;
    moved.offset += v.offset;
    moved.terms.insert(moved.terms.end(), v.terms.begin(), v.terms.end());
    // Choices that the view has already are about a loop further in, and come first.
    for (View::Choice& c : moved.choices) {
      c.offset += v.offset;
      c.terms.insert(c.terms.end(), v.terms.begin(), v.terms.end());
    }
    moved.choices.insert(moved.choices.begin(), v.choices.begin(), v.choices.end());
    v = std::move(moved);
  });
}

View alternating(const View& even, const View& odd, int32_t loop, int64_t phase) {
  View view = even;
  view.choices.insert(view.choices.begin(), {loop, phase % 2, odd.buffer, odd.offset, odd.terms});
  return view;
}

void drop_unused(Program& program) {
  std::vector<int32_t> buffers(program.buffers.size(), -1), kernels(program.kernels.size(), -1);
  for (size_t i = 0; i < buffers.size(); ++i)
    if (program.buffers[i].kind != BufferKind::workspace) buffers[i] = 0;
  for_each_view(program.steps, [&](View& v) {
    buffers[static_cast<size_t>(v.buffer)] = 0;
    for (const View::Choice& c : v.choices) buffers[static_cast<size_t>(c.buffer)] = 0;
  });
  for_each_step(program.steps, [&](Step& s) {
    if (s.kind == StepKind::kernel) kernels[static_cast<size_t>(s.kernel)] = 0;
  });
  const auto compact = [](auto& list, std::vector<int32_t>& numbers) {
    int32_t next = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < 0) continue;
      if (static_cast<size_t>(next) != i) list[static_cast<size_t>(next)] = std::move(list[i]);
      numbers[i] = next++;
    }
    list.erase(list.begin() + next, list.end());
  };
  compact(program.buffers, buffers);
  compact(program.kernels, kernels);
  for_each_view(program.steps, [&](View& v) {
    v.buffer = buffers[static_cast<size_t>(v.buffer)];
    for (View::Choice& c : v.choices) c.buffer = buffers[static_cast<size_t>(c.buffer)];
  });
  for_each_step(program.steps, [&](Step& s) {
    if (s.kind == StepKind::kernel) s.kernel = kernels[static_cast<size_t>(s.kernel)];
  });
}

}  // namespace calque::kernel
