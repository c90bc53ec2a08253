#pragma once
// Why signatures differ: names the leaf or static value in which a call differs from an earlier one, and notices when
// the same one changes again and again, so that a function is compiled for every call.
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calque/detail/signature_parts.h"

#include "ir/fork.h"

namespace calque::runtime {

/// A part in which two signatures differ.
struct SignatureDifference {
  /// `structure`: the number of parts differs, and those that follow are not compared.
  enum class Kind : uint8_t { static_value, dtype, shape, layout, device, structure, types, options };
  Kind kind = Kind::static_value;
  std::string path;     ///< empty for types and options
  std::string is, was;  ///< empty where there is nothing short to print
};

/// The differences between a signature, given with its parts, and an earlier one.
std::vector<SignatureDifference> compare_signatures(std::span<const uint64_t> words,
                                                    std::span<const detail::SignaturePart> parts,
                                                    std::span<const uint64_t> earlier);
/// Whether the signature with differences `a` is more similar than that with `b`.
bool are_nearer(std::span<const SignatureDifference> a, std::span<const SignatureDifference> b);
/// `argument 0 is f32[3], was f32[2]; argument 1.n is 4, was 3`.
std::string to_string(std::span<const SignatureDifference> differences);

/// The signatures that one function was compiled for. Thread-safe.
class SignatureHistory {
 public:
  /// So many compilations for one changing part are reported.
  static constexpr int kReported = 8;

  /// Adds a signature that was compiled; very long ones are ignored. Returns a warning when a part has changed
  /// kReported times, once for each part; else an empty text. `parts` is called unless the signature is the first.
  template <class Parts>
  std::string add(std::span<const uint64_t> words, const Parts& parts) {
    if (words.size() > kLongest) return {};
    std::lock_guard lock(mutex_);
    std::string warning;
    if (!recent_.empty()) warning = count(words, parts());
    remember(words);
    return warning;
  }
  /// The parts that have changed at least kReported times, and what to do; empty if there are none.
  std::string report() const;
  void clear();

 private:
  static constexpr size_t kRecent = 8, kCounted = 256, kLongest = 4096;
  using Part = std::pair<std::string, SignatureDifference::Kind>;
  std::string count(std::span<const uint64_t> words, const std::vector<detail::SignaturePart>& parts);
  void remember(std::span<const uint64_t> words);

  mutable ForkMutex mutex_;
  std::vector<std::vector<uint64_t>> recent_;  ///< oldest first
  std::map<Part, int> changes_;
};

}  // namespace calque::runtime
