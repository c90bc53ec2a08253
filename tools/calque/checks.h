#pragma once
// Checks of the values of options, before any work begins. Each returns what is wrong with the text, or nothing.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace calque::cli {

using Check = std::function<std::string(const std::string& text)>;

/// A whole number in decimal notation, from `least` to `most`.
Check whole_number(uint64_t least, uint64_t most);
/// A finite number of at least 0; above 0 if `positive`.
Check finite_number(bool positive);
/// A value that is there: `--cpu=` chooses no CPU.
std::string not_empty(const std::string& text);
/// A file that can be written, or made in a folder that is there or can be made. `-` is standard output.
std::string writable_file(const std::string& text);

/// "; the nearest is lower", or nothing if no name is similar.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

}  // namespace calque::cli
