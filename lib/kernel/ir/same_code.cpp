#include "kernel/ir/same_code.h"

#include <algorithm>
#include <cstring>

namespace calque::kernel {

namespace {

uint64_t mix_hash(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

/// Whose instructions are compared, and whether the values of floating-point constants are.
struct Comparison {
  const Kernel& kernel;
  bool form = false;

  bool ignores_literal(const Instruction& i) const {
    if (!form || i.op != Op::constant) return false;
    const DType d = kernel.values[static_cast<size_t>(i.results[0])];
    return d == DType::f32 || d == DType::f64;
  }
};

uint64_t hash(const Comparison& c, const Region& region, uint64_t h) {
  for (const Instruction& i : region.instructions) {
    h = mix_hash(h, static_cast<uint64_t>(i.op) << 32 | i.primitive);
    h = mix_hash(h, static_cast<uint64_t>(i.extent));
    h = mix_hash(h, static_cast<uint64_t>(i.buffer));
    for (const Id o : i.operands) h = mix_hash(h, static_cast<uint64_t>(o));
    uint64_t words[2] = {};
    static_assert(sizeof words == sizeof i.literal.bytes);
    if (!c.ignores_literal(i)) std::memcpy(words, i.literal.bytes, sizeof words);
    h = mix_hash(mix_hash(h, words[0]), words[1]);
    for (const Region& r : i.regions) h = hash(c, r, mix_hash(h, r.instructions.size()));
  }
  return h;
}

bool same(const Comparison& c, const Region& a, const Region& b);

template <class Tiles>
bool same(const std::shared_ptr<const Tiles>& a, const std::shared_ptr<const Tiles>& b) {
  return a == b || (a && b && *a == *b);
}

bool same(const Comparison& c, const Instruction& a, const Instruction& b) {
  return a.op == b.op && a.primitive == b.primitive && a.loop == b.loop && a.exact == b.exact && a.buffer == b.buffer &&
         a.operands == b.operands && a.results == b.results && a.locals == b.locals && a.extent == b.extent &&
         a.combiners == b.combiners && a.rows == b.rows && a.columns == b.columns && a.vectorize == b.vectorize &&
         a.threads == b.threads && a.grain == b.grain && a.mapping == b.mapping && a.lanes == b.lanes &&
         a.unroll == b.unroll && a.overlapping_tail == b.overlapping_tail && a.column_tile == b.column_tile &&
         a.thread_tile == b.thread_tile && a.non_temporal == b.non_temporal && same(a.cpu_tiles, b.cpu_tiles) &&
         same(a.gpu_tiles, b.gpu_tiles) &&
         (c.ignores_literal(a) || std::memcmp(a.literal.bytes, b.literal.bytes, sizeof a.literal.bytes) == 0) &&
         std::equal(a.regions.begin(), a.regions.end(), b.regions.begin(), b.regions.end(),
                    [&](const Region& r, const Region& s) { return same(c, r, s); });
}

bool same(const Comparison& c, const Region& a, const Region& b) {
  return a.parameters == b.parameters &&
         std::equal(a.instructions.begin(), a.instructions.end(), b.instructions.begin(), b.instructions.end(),
                    [&](const Instruction& i, const Instruction& j) { return same(c, i, j); });
}

bool same(const Buffer& a, const Buffer& b) {
  return a.dtype == b.dtype && a.extent == b.extent && a.written == b.written && a.alignment == b.alignment &&
         a.local == b.local;
}

uint64_t hash(const Comparison& c) {
  return hash(c, c.kernel.body, mix_hash(c.kernel.buffers.size(), c.kernel.values.size()));
}

/// `c` is of one of the two: their values have the same dtypes where the rest is compared.
bool same(const Comparison& c, const Kernel& a, const Kernel& b) {
  return a.values == b.values && !a.launch && !b.launch &&
         std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(),
                    [](const Buffer& x, const Buffer& y) { return same(x, y); }) &&
         same(c, a.body, b.body);
}

void collect(const Kernel& kernel, const Region& region, std::vector<const Instruction*>& constants) {
  for (const Instruction& i : region.instructions) {
    if (Comparison{kernel, true}.ignores_literal(i)) constants.push_back(&i);
    for (const Region& inner : i.regions) collect(kernel, inner, constants);
  }
}

}  // namespace

uint64_t hash_of_code(const Kernel& kernel) { return hash({kernel}); }
bool same_code(const Kernel& a, const Kernel& b) { return same({a}, a, b); }

std::vector<const Instruction*> floating_point_constants(const Kernel& kernel) {
  std::vector<const Instruction*> constants;
  collect(kernel, kernel.body, constants);
  return constants;
}

uint64_t hash_of_form(const Kernel& kernel) { return hash({kernel, true}); }
bool same_form(const Kernel& a, const Kernel& b) { return same({a, true}, a, b); }

}  // namespace calque::kernel
