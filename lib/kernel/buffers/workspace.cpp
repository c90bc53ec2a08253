#include "kernel/buffers/workspace.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/values/bytes.h"
#include "kernel/ir/memory_use.h"

namespace calque::kernel {

namespace {

struct LiveRange {
  int32_t buffer = -1;
  int64_t bytes = 0;
  int64_t first = -1, last = -1;  ///< times in program order; -1: never used
};

class LiveRanges {
 public:
  /// The live ranges of the workspace buffers that are private to the loop `private_to`, or to none (-1).
  LiveRanges(const Program& program, const std::vector<Step>& steps, int32_t private_to) {
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const ProgramBuffer& buffer = program.buffers[b];
      LiveRange range;
      if (buffer.kind == BufferKind::workspace && buffer.private_to == private_to) {
        const auto bytes = static_cast<int64_t>(bytes_of(buffer.type));
        range.buffer = static_cast<int32_t>(b);
        range.bytes =
            (std::max<int64_t>(bytes, 1) + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
      }
      by_buffer_.push_back(range);
    }
    walk(steps);
  }

  /// The live ranges of the used buffers, the largest buffer first.
  std::vector<LiveRange> sorted() const {
    std::vector<LiveRange> ranges;
    for (const LiveRange& r : by_buffer_)
      if (r.buffer >= 0 && r.first >= 0) ranges.push_back(r);
    std::sort(ranges.begin(), ranges.end(), [](const LiveRange& a, const LiveRange& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.buffer < b.buffer;
    });
    return ranges;
  }

 private:
  /// A buffer slice that a view may denote, and the loops that it depends on.
  struct Use {
    int32_t buffer;
    const std::vector<View::Term>* terms;
    const std::vector<View::Choice>* choices;
    bool depends_on(int32_t loop) const {
      return std::any_of(terms->begin(), terms->end(), [&](const View::Term& t) { return t.loop == loop; }) ||
             std::any_of(choices->begin(), choices->end(), [&](const View::Choice& c) { return c.depends_on(loop); });
    }
  };

  void use(int32_t buffer, const std::vector<View::Term>& terms, const View& view) {
    LiveRange& range = by_buffer_[static_cast<size_t>(buffer)];
    if (range.first < 0) range.first = now_;
    range.last = now_;
    uses_.push_back({buffer, &terms, &view.choices});
  }
  void use(const View& view) {
    use(view.buffer, view.terms, view);
    for (const View::Choice& c : view.choices) use(c.buffer, c.terms, view);
  }

  void walk(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      const bool loops = s.kind == StepKind::while_ || s.kind == StepKind::repeat;
      const int64_t begin = now_;
      if (loops) ++now_;
      const size_t before = uses_.size();
      // The views of a loop or branch (a predicate, a selector) are read on entering a block.
      for (size_t b = 0; b < s.blocks.size(); ++b) {
        if (s.kind == StepKind::branch || b > 0) use_views(s);
        walk(s.blocks[b]);
      }
      if (s.blocks.empty()) use_views(s);
      if (!loops) continue;
      // A buffer that is live before the loop and used in it is used again in the next iteration. A buffer of which
      // each iteration uses one slice, or that is used every other iteration, is live throughout the loop, and so are
      // all buffers that threads share.
      ++now_;
      for (size_t i = before; i < uses_.size(); ++i) {
        LiveRange& range = by_buffer_[static_cast<size_t>(uses_[i].buffer)];
        const bool sliced = s.threads || (s.loop_id >= 0 && uses_[i].depends_on(s.loop_id)) ||
                            (s.chunk_id >= 0 && uses_[i].depends_on(s.chunk_id));
        if (sliced) range.first = std::min(range.first, begin);
        if (sliced || range.first < begin) range.last = now_;
      }
      ++now_;
    }
  }
  void use_views(const Step& s) {
    for (const View& v : s.views) use(v);
    ++now_;
  }

  std::vector<LiveRange> by_buffer_;
  std::vector<Use> uses_;  // in order
  int64_t now_ = 0;
};

}  // namespace

int32_t add_workspace(Program& program, const Type& type) {
  ProgramBuffer b;
  b.kind = BufferKind::workspace;
  b.type = type;
  b.strides = row_major_strides(type.shape);
  program.buffers.push_back(std::move(b));
  return static_cast<int32_t>(program.buffers.size()) - 1;
}

namespace {

/// Assigns offsets to buffers. Returns their total size in bytes.
int64_t assign_offsets(Program& program, const LiveRanges& ranges) {
  // First fit: each buffer gets the lowest offset that is free throughout its live range.
  struct Slot {
    int64_t begin, end, first, last;
  };
  std::vector<Slot> slots;  // sorted by begin
  int64_t total = 0;
  // Beyond this many buffers the search would dominate compile time; the rest are laid out one after the other.
  constexpr size_t kSearched = 2000;
  for (const LiveRange& r : ranges.sorted()) {
    int64_t at = 0;
    if (slots.size() < kSearched) {
      for (const Slot& s : slots) {
        if (s.last < r.first || r.last < s.first) continue;
        if (s.begin >= at + r.bytes) break;
        at = std::max(at, s.end);
      }
      const Slot slot{at, at + r.bytes, r.first, r.last};
      slots.insert(std::upper_bound(slots.begin(), slots.end(), slot,
                                    [](const Slot& a, const Slot& b) { return a.begin < b.begin; }),
                   slot);
    } else {
      at = total;
    }
    program.buffers[static_cast<size_t>(r.buffer)].offset = at;
    total = std::max(total, at + r.bytes);
  }
  return total;
}

}  // namespace

int64_t assign_private_offsets(Program& program, const Step& loop) {
  return assign_offsets(program, LiveRanges(program, loop.blocks[0], loop.loop_id));
}

namespace {

void check_offsets(const Program& program, const MemoryUses& uses, const std::vector<Step>& steps,
                   std::unordered_map<int32_t, int64_t>& sizes) {
  PendingCalls pending(program, uses);
  const auto check = [&](int32_t number) {
    const ProgramBuffer& b = program.buffers[static_cast<size_t>(number)];
    if (b.kind != BufferKind::workspace) return;
    const auto size = sizes.find(b.private_to);
    if (size != sizes.end() && b.offset + static_cast<int64_t>(bytes_of(b.type)) <= size->second) return;
    throw CompileError("verify: program " + program.name + ": the buffer m" + std::to_string(number) +
                       " is not inside the workspace");
  };
  for (const Step& s : steps) {
    if (!s.carries.empty())
      throw CompileError("verify: program " + program.name + ": a loop's carries have no buffers");
    if (s.kind == StepKind::repeat && s.loop_id >= 0 && s.threads) sizes[s.loop_id] = s.private_bytes;
    for (const View& v : s.views) {
      check(v.buffer);
      for (const View::Choice& c : v.choices) check(c.buffer);
    }
    for (const auto& block : s.blocks) check_offsets(program, uses, block, sizes);
    if (const std::string_view broken = pending.pass(s); !broken.empty())
      throw CompileError(fmt::format("verify: program {}: {}", program.name, broken));
  }
}

}  // namespace

void verify_offsets(const Program& program) {
  std::unordered_map<int32_t, int64_t> sizes = {{-1, program.workspace_bytes}};  // by Step::loop_id, or -1
  check_offsets(program, MemoryUses(program, true), program.steps, sizes);
}

void assign_workspace_offsets(Program& program) {
  program.workspace_bytes = assign_offsets(program, LiveRanges(program, program.steps, -1));
}

}  // namespace calque::kernel
