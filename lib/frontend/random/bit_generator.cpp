#include "calque/random.h"

#include "primitives/elementwise/random_bits.h"

namespace calque::random {

BitGenerator::BitGenerator(const Key& key, Loc loc) {
  if (key.data.any().empty() || key.data.shape() != Shape{2}) {
    throw ShapeError("random::BitGenerator: a key is u32[2]" + where_text(loc));
  }
  const std::span<const uint32_t> words = key.data.host();
  k0_ = words[0];
  k1_ = words[1];
}

BitGenerator::result_type BitGenerator::operator()() {
  const uint64_t n = counter_++;
  const auto [x0, x1] =
      primitives::Threefry::encrypt(k0_, k1_, static_cast<uint32_t>(n >> 32), static_cast<uint32_t>(n));
  return uint64_t{x0} << 32 | x1;
}

}  // namespace calque::random
