#include "runtime/call/signature_history.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "calque/ir/shape.h"

namespace calque::runtime {
namespace {

using detail::SignaturePart;
using Kind = SignatureDifference::Kind;
using Words = std::span<const uint64_t>;

/// The fields of the first word of a leaf, see detail::SignatureWords.
struct Head {
  explicit Head(uint64_t word)
      : dtype(static_cast<DType>(word & 0xff)),
        rank(word >> 8 & 0xff),
        dense_rows((word >> 16 & 1) != 0),
        device(word >> 32) {}
  DType dtype;
  size_t rank;
  bool dense_rows;
  uint64_t device;
};
constexpr uint64_t kEmptyArray = UINT64_MAX;

/// The number of words of a part.
size_t length_of(SignaturePart::Kind kind, Words words) {
  switch (kind) {
    case SignaturePart::Kind::leaf: {
      if (words[0] == kEmptyArray) return 1;
      const Head head(words[0]);
      return 1 + head.rank * (head.dense_rows ? 1 : 2);
    }
    case SignaturePart::Kind::text:
    case SignaturePart::Kind::other:
      return 1 + (words[0] + 7) / 8;
    default:
      return 1;
  }
}

std::string text_of_leaf(Words words) {
  if (words[0] == kEmptyArray) return "empty";
  const Head head(words[0]);
  Shape::Dims extents;
  for (size_t i = 1; i <= head.rank; ++i) extents.push_back(static_cast<int64_t>(words[i]));
  return calque::to_string(Type{head.dtype, Shape(std::span<const int64_t>(extents))});
}

std::string text_of(SignaturePart::Kind kind, Words words) {
  switch (kind) {
    case SignaturePart::Kind::leaf:
      return text_of_leaf(words);
    case SignaturePart::Kind::boolean:
      return words[0] != 0 ? "true" : "false";
    case SignaturePart::Kind::size:
    case SignaturePart::Kind::unsigned_integer:
      return std::to_string(words[0]);
    case SignaturePart::Kind::signed_integer:
      return std::to_string(static_cast<int64_t>(words[0]));
    case SignaturePart::Kind::f32:
      return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(words[0])));
    case SignaturePart::Kind::f64:
      return fmt::format("{}", std::bit_cast<double>(words[0]));
    case SignaturePart::Kind::text: {
      constexpr size_t kLongest = 40;
      std::string text(std::min<size_t>(words[0], kLongest), '\0');
      std::memcpy(text.data(), words.data() + 1, text.size());
      return '"' + text + (words[0] > kLongest ? "...\"" : "\"");
    }
    case SignaturePart::Kind::other:
      break;
  }
  return {};
}

Kind kind_of_leaf_difference(Words a, Words b) {
  if (a[0] == kEmptyArray || b[0] == kEmptyArray) return Kind::shape;
  const Head one(a[0]), other(b[0]);
  if (one.dtype != other.dtype) return Kind::dtype;
  if (one.rank != other.rank || !std::equal(a.begin() + 1, a.begin() + 1 + std::ptrdiff_t(one.rank), b.begin() + 1))
    return Kind::shape;
  return one.device != other.device ? Kind::device : Kind::layout;
}

SignatureDifference difference_of(const SignaturePart& part, Words words, Words earlier) {
  SignatureDifference d{Kind::static_value, part.path, text_of(part.kind, words), text_of(part.kind, earlier)};
  if (part.kind == SignaturePart::Kind::size) d.kind = Kind::structure;
  if (part.kind == SignaturePart::Kind::leaf) {
    d.kind = kind_of_leaf_difference(words, earlier);
    if (d.kind == Kind::layout) d.is = "in another memory layout", d.was.clear();
    if (d.kind == Kind::device) d.is = "on another device", d.was.clear();
  }
  return d;
}

std::string_view remedy(const std::string& path, Kind kind) {
  switch (kind) {
    case Kind::static_value:
      if (path.find_first_of(".[") == std::string::npos)
        return "a static value is part of the signature: to compile once, pass it without static_arg";
      return "a static value is part of the signature: to compile once, make it a leaf: give the member the type of "
             "the "
             "struct's template parameter, or pass it as an argument of its own";
    case Kind::dtype:
      return "each element type is compiled: pass arguments of one type";
    case Kind::shape:
      return "each shape is compiled: pad the array to a few sizes";
    case Kind::layout:
      return "each memory layout is compiled: pass matrices of one kind";
    case Kind::device:
      return "each device is compiled for: keep the argument on one";
    case Kind::structure:
      return "each element is an argument of its own: pass one array, and pad it to a few sizes";
    case Kind::types:
      return "each combination of C++ types is compiled: pass arguments of the same types";
    case Kind::options:
      return "each combination of options is compiled";
  }
  return {};
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::static_value:
      return "value";
    case Kind::dtype:
      return "element type";
    case Kind::shape:
      return "shape";
    case Kind::layout:
      return "memory layout";
    case Kind::device:
      return "device";
    case Kind::structure:
      return "number of elements";
    case Kind::types:
      return "arguments' types";
    case Kind::options:
      return "options";
  }
  return {};
}

/// `the value of argument 0.gamma`.
std::string subject(const std::string& path, Kind kind) {
  return "the " + std::string(name_of(kind)) + (path.empty() ? "" : " of " + path);
}

}  // namespace

std::vector<SignatureDifference> compare_signatures(Words words, std::span<const SignaturePart> parts, Words earlier) {
  if (words[0] != earlier[0]) return {{Kind::types, {}, {}, {}}};
  std::vector<SignatureDifference> differences;
  if (words[1] != earlier[1]) differences.push_back({Kind::options, {}, {}, {}});
  size_t at = 2;  // in `earlier`
  for (size_t i = 0; i < parts.size() && at < earlier.size(); ++i) {
    const size_t end = i + 1 < parts.size() ? parts[i + 1].first : words.size();
    const Words mine = words.subspan(parts[i].first, end - parts[i].first);
    const size_t length = length_of(parts[i].kind, earlier.subspan(at));
    if (length > earlier.size() - at) break;
    const Words before = earlier.subspan(at, length);
    at += length;
    if (std::equal(mine.begin(), mine.end(), before.begin(), before.end())) continue;
    differences.push_back(difference_of(parts[i], mine, before));
    if (differences.back().kind == Kind::structure) break;
  }
  return differences;
}

std::string to_string(std::span<const SignatureDifference> differences) {
  constexpr size_t kListed = 4;
  std::string text;
  for (const SignatureDifference& d : differences.first(std::min(differences.size(), kListed))) {
    if (!text.empty()) text += "; ";
    if (d.path.empty()) {
      text += "other " + std::string(d.kind == Kind::types ? "types of arguments" : "options");
    } else if (d.kind == Kind::structure) {
      text += d.path + " has " + d.is + " elements, had " + d.was;
    } else {
      text += d.path + " is " + (d.is.empty() ? "another value" : d.is) + (d.was.empty() ? "" : ", was " + d.was);
    }
  }
  if (differences.size() > kListed) text += fmt::format("; and {} more", differences.size() - kListed);
  return text;
}

bool are_nearer(std::span<const SignatureDifference> a, std::span<const SignatureDifference> b) {
  const auto distance = [](std::span<const SignatureDifference> differences) {
    constexpr size_t kFar = 1000;  // other types or another structure leave the rest uncompared
    size_t sum = differences.size();
    for (const SignatureDifference& d : differences)
      sum += d.kind == Kind::types || d.kind == Kind::structure ? kFar : 0;
    return sum;
  };
  return distance(a) < distance(b);
}

std::string SignatureHistory::count(Words words, const std::vector<SignaturePart>& parts) {
  std::vector<SignatureDifference> fewest;
  for (auto earlier = recent_.rbegin(); earlier != recent_.rend(); ++earlier) {
    std::vector<SignatureDifference> differences = compare_signatures(words, parts, *earlier);
    if (differences.empty()) continue;  // evicted, and compiled again
    if (fewest.empty() || are_nearer(differences, fewest)) fewest = std::move(differences);
  }
  std::string subjects;
  std::string_view advice;
  for (const SignatureDifference& d : fewest) {
    const Part part{d.path, d.kind};
    if (changes_.size() >= kCounted && !changes_.contains(part)) continue;
    if (++changes_[part] != kReported) continue;
    subjects += (subjects.empty() ? "" : " and ") + subject(d.path, d.kind);
    advice = remedy(d.path, d.kind);
  }
  if (subjects.empty()) return {};
  return fmt::format("compiled {} times because of {} ({}); {}", kReported, subjects, to_string(fewest), advice);
}

void SignatureHistory::remember(Words words) {
  if (recent_.size() == kRecent) recent_.erase(recent_.begin());
  recent_.emplace_back(words.begin(), words.end());
}

std::string SignatureHistory::report() const {
  std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [part, times] : changes_) {
    if (times < kReported) continue;
    text += fmt::format("warning: compiled {} times because of {}; {}\n", times, subject(part.first, part.second),
                        remedy(part.first, part.second));
  }
  return text;
}

void SignatureHistory::clear() {
  std::lock_guard lock(mutex_);
  recent_.clear();
  changes_.clear();
}

}  // namespace calque::runtime
