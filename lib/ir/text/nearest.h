#pragma once
// What a misspelled name may have meant.
#include <span>
#include <string_view>

namespace calque::text {

/// The name that differs from `word` by the fewest insertions, deletions, replacements and swaps of neighbours; the
/// first of several. Empty if none is similar.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

}  // namespace calque::text
