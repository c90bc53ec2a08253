#include "kernel/buffers/workspace.h"

#include <algorithm>
#include <numeric>

#include "ir/values/bytes.h"

namespace calque::kernel {

namespace {

constexpr int64_t kAlignment = 64;

struct Life {
  int32_t buffer = -1;
  int64_t bytes = 0;
  int64_t first = -1, last = -1;  ///< steps, in program order; -1: touched by none
};

class Lives {
 public:
  /// Of the workspace buffers that are private to one loop; to none: -1.
  Lives(const Program& program, const std::vector<Step>& steps, int32_t private_to) {
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const ProgramBuffer& buffer = program.buffers[b];
      Life life;
      if (buffer.kind == BufferKind::workspace && buffer.private_to == private_to) {
        const auto bytes = static_cast<int64_t>(bytes_of(buffer.type));
        life.buffer = static_cast<int32_t>(b);
        life.bytes = (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
      }
      by_buffer_.push_back(life);
    }
    walk(steps);
  }

  /// Of the buffers that steps touch, the largest first.
  std::vector<Life> sorted() const {
    std::vector<Life> lives;
    for (const Life& l : by_buffer_)
      if (l.buffer >= 0 && l.first >= 0) lives.push_back(l);
    std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.buffer < b.buffer;
    });
    return lives;
  }

 private:
  /// A place that a view may stand for, and the loops that it depends on.
  struct Touch {
    int32_t buffer;
    const std::vector<View::Term>* terms;
    const std::vector<View::Choice>* choices;
    bool depends_on(int32_t loop) const {
      return std::any_of(terms->begin(), terms->end(), [&](const View::Term& t) { return t.loop == loop; }) ||
             std::any_of(choices->begin(), choices->end(), [&](const View::Choice& c) { return c.loop == loop; });
    }
  };

  void touch(int32_t buffer, const std::vector<View::Term>& terms, const View& view) {
    Life& life = by_buffer_[static_cast<size_t>(buffer)];
    if (life.first < 0) life.first = now_;
    life.last = now_;
    touched_.push_back({buffer, &terms, &view.choices});
  }
  void touch(const View& view) {
    touch(view.buffer, view.terms, view);
    for (const View::Choice& c : view.choices) touch(c.buffer, c.terms, view);
  }

  void walk(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      const bool loops = s.kind == StepKind::while_ || s.kind == StepKind::repeat;
      const int64_t begin = now_;
      if (loops) ++now_;
      const size_t before = touched_.size();
      // The views of a loop or branch (a predicate, a selector) are read on entering a block.
      for (size_t b = 0; b < s.blocks.size(); ++b) {
        if (s.kind == StepKind::branch || b > 0) read_views(s);
        walk(s.blocks[b]);
      }
      if (s.blocks.empty()) read_views(s);
      if (!loops) continue;
      // What was alive before the loop and is touched in it is wanted again in the next iteration, and what is read or
      // written one slice an iteration, or every other iteration, is needed throughout. So is all that threads share.
      ++now_;
      for (size_t i = before; i < touched_.size(); ++i) {
        Life& life = by_buffer_[static_cast<size_t>(touched_[i].buffer)];
        const bool sliced = s.threads || (s.loop_id >= 0 && touched_[i].depends_on(s.loop_id)) ||
                            (s.piece_id >= 0 && touched_[i].depends_on(s.piece_id));
        if (sliced) life.first = std::min(life.first, begin);
        if (sliced || life.first < begin) life.last = now_;
      }
      ++now_;
    }
  }
  void read_views(const Step& s) {
    for (const View& v : s.views) touch(v);
    ++now_;
  }

  std::vector<Life> by_buffer_;
  std::vector<Touch> touched_;  // in order
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

/// Gives buffers their offsets. Returns the bytes that they take together.
int64_t place(Program& program, const Lives& lives) {
  // Each at the lowest offset that is free throughout its life.
  struct Placed {
    int64_t begin, end, first, last;
  };
  std::vector<Placed> placed;  // sorted by begin
  int64_t total = 0;
  // Past this many buffers the search would dominate compilation; the rest is laid out one after the other.
  constexpr size_t kSearched = 2000;
  for (const Life& l : lives.sorted()) {
    int64_t at = 0;
    if (placed.size() < kSearched) {
      for (const Placed& p : placed) {
        if (p.last < l.first || l.last < p.first) continue;
        if (p.begin >= at + l.bytes) break;
        at = std::max(at, p.end);
      }
      const Placed mine{at, at + l.bytes, l.first, l.last};
      placed.insert(std::upper_bound(placed.begin(), placed.end(), mine,
                                     [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                    mine);
    } else {
      at = total;
    }
    program.buffers[static_cast<size_t>(l.buffer)].offset = at;
    total = std::max(total, at + l.bytes);
  }
  return total;
}

}  // namespace

int64_t place_private(Program& program, const Step& loop) {
  return place(program, Lives(program, loop.blocks[0], loop.loop_id));
}

void place_workspace(Program& program) { program.workspace_bytes = place(program, Lives(program, program.steps, -1)); }

}  // namespace calque::kernel
