#include "kernel/workspace.h"

#include <algorithm>
#include <numeric>

namespace calque::kernel {

namespace {
constexpr int64_t kAlignment = 64;
}

int32_t Workspace::add(Program& program, const Type& type) {
  const auto id = static_cast<int32_t>(program.buffers.size());
  ProgramBuffer b;
  b.kind = BufferKind::workspace;
  b.type = type;
  b.strides = row_major_strides(type.shape);
  program.buffers.push_back(std::move(b));
  by_buffer_.resize(program.buffers.size(), -1);
  by_buffer_[static_cast<size_t>(id)] = static_cast<int32_t>(lives_.size());
  const int64_t bytes = type.shape.num_elements() * static_cast<int64_t>(size_of(type.dtype));
  lives_.push_back({id, (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment, now_, now_});
  return id;
}

void Workspace::touch(int32_t buffer) {
  if (static_cast<size_t>(buffer) >= by_buffer_.size() || by_buffer_[static_cast<size_t>(buffer)] < 0) return;
  lives_[static_cast<size_t>(by_buffer_[static_cast<size_t>(buffer)])].last = now_;
}

void Workspace::close_loop(int64_t begin) {
  for (Life& l : lives_)
    if (l.first < begin && l.last >= begin) l.last = now_;
}

int64_t Workspace::assign(Program& program) const {
  // Largest first, each at the lowest offset that is free throughout its life.
  std::vector<size_t> order(lives_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return lives_[a].bytes != lives_[b].bytes ? lives_[a].bytes > lives_[b].bytes : a < b;
  });
  struct Placed {
    int64_t begin, end;
    size_t life;
  };
  std::vector<Placed> placed;  // sorted by begin
  int64_t total = 0;
  // Past this many buffers the search would dominate compilation; the rest is laid out one after the other.
  constexpr size_t kSearched = 2000;
  for (size_t n = 0; n < order.size(); ++n) {
    const Life& l = lives_[order[n]];
    int64_t at = 0;
    if (n < kSearched) {
      for (const Placed& p : placed) {
        const Life& other = lives_[p.life];
        if (other.last < l.first || l.last < other.first) continue;
        if (p.begin >= at + l.bytes) break;
        at = std::max(at, p.end);
      }
      const Placed mine{at, at + l.bytes, order[n]};
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

}  // namespace calque::kernel
