#pragma once
// How the text of the kernel IR spells its enumerations.
#include <array>
#include <string_view>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

inline constexpr std::array kCombiners = {Combiner::add,  Combiner::mul, Combiner::max,    Combiner::min,
                                          Combiner::and_, Combiner::or_, Combiner::argmax, Combiner::argmin};

constexpr std::string_view spelling_of(Combiner c) {
  constexpr std::string_view kNames[] = {"add", "mul", "max", "min", "and", "or", "argmax", "argmin"};
  return kNames[static_cast<size_t>(c)];
}

constexpr std::string_view spelling_of(LoopKind kind) {
  constexpr std::string_view kNames[] = {"parallel", "sequential", "reduction"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace calque::kernel
