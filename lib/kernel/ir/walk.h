#pragma once
// Walks over the instructions and regions of a kernel, at any depth of nesting. They work on const kernels and on
// others.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// What a visit returns to choose whether the walk goes on into the regions of the instruction that it was given.
enum class Walk : uint8_t { enter, skip };

template <class T>
concept RegionOrInstruction =
    std::is_same_v<std::remove_const_t<T>, Region> || std::is_same_v<std::remove_const_t<T>, Instruction>;

/// Calls `visit` with every instruction of a region, or with an instruction and all those inside it; each before those
/// of its own regions. `visit` returns nothing or a Walk.
template <RegionOrInstruction T, class Visit>
void walk(T& at, const Visit& visit) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, Region>) {
    for (auto& i : at.instructions) walk(i, visit);
  } else {
    if constexpr (std::is_void_v<decltype(visit(at))>) {
      visit(at);
    } else {
      if (visit(at) == Walk::skip) return;
    }
    for (auto& region : at.regions) walk(region, visit);
  }
}

/// Calls `visit` with a region and every region inside it; each before those of its own instructions, which `visit` may
/// insert, replace and erase.
template <class R, class Visit>
void walk_regions(R& region, const Visit& visit) {
  visit(region);
  for (auto& i : region.instructions)
    for (auto& inner : i.regions) walk_regions(inner, visit);
}

/// How many instructions of a region, or how many of an instruction and those inside it, `wanted` holds for.
template <RegionOrInstruction T, class Wanted>
size_t count_if(const T& at, const Wanted& wanted) {
  size_t n = 0;
  walk(at, [&](const Instruction& i) { n += wanted(i) ? 1 : 0; });
  return n;
}

/// The instructions of a region, nested ones included.
inline size_t num_instructions(const Region& region) {
  return count_if(region, [](const Instruction&) { return true; });
}

/// Whether `wanted` holds for the instruction or for one inside it.
template <class Wanted>
bool is_or_contains(const Instruction& i, const Wanted& wanted) {
  if (wanted(i)) return true;
  for (const Region& region : i.regions)
    if (contains(region, wanted)) return true;
  return false;
}

inline bool is_load(const Instruction& i) { return i.op == Op::load; }
inline bool is_store(const Instruction& i) { return i.op == Op::store; }

}  // namespace calque::kernel
