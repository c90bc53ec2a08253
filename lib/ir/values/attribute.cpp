// The items are sorted by name, and names are unique.
#include "calque/ir/attribute.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <ostream>
#include <unordered_set>

#include "calque/ir/errors.h"

#include "ir/fork.h"
#include "ir/text/text.h"

namespace calque {

uint64_t Opaque::next_identity() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::string to_string(const AttributeValue& value) {
  std::string out;
  text::append_attribute(out, value);
  return out;
}

std::ostream& operator<<(std::ostream& out, const AttributeValue& value) { return out << to_string(value); }

namespace {
struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
}  // namespace

std::string_view intern(std::string_view text) {
  // Never destroyed: static destructors may still use locations.
  auto& texts = process_wide([] { return new std::unordered_set<std::string, Hash, std::equal_to<>>; });
  static constinit ForkMutex mutex;
  const std::lock_guard lock(mutex);
  const auto known = texts.find(text);
  return known != texts.end() ? *known : *texts.emplace(text).first;
}

Attributes::Attributes(std::initializer_list<Attribute> items) {
  items_.reserve(items.size());
  for (const Attribute& item : items) {
    if (items_.empty() || items_.back().name < item.name) {
      items_.push_back(item);
    } else {
      set(item.name, item.value);
    }
  }
}

void Attributes::set(std::string_view name, AttributeValue value) {
  const auto at = std::lower_bound(items_.begin(), items_.end(), name,
                                   [](const Attribute& a, std::string_view n) { return a.name < n; });
  if (at != items_.end() && at->name == name) {
    at->value = std::move(value);
  } else {
    items_.insert(at, Attribute{name, std::move(value)});
  }
}

const AttributeValue* Attributes::find(std::string_view name) const {
  for (const Attribute& item : items_) {
    if (item.name == name) return &item.value;
  }
  return nullptr;
}

void Attributes::missing(std::string_view name) {
  throw CompileError("attribute " + std::string(name) + " is missing or of another type than expected");
}

bool operator==(const Attributes& a, const Attributes& b) {
  const auto same = [](const Attribute& x, const Attribute& y) {
    if (x.name != y.name || x.value.index() != y.value.index()) return false;
    if (const auto* f = std::get_if<double>(&x.value)) {  // by bits: NaN equals itself, -0 differs from 0
      return std::bit_cast<uint64_t>(*f) == std::bit_cast<uint64_t>(std::get<double>(y.value));
    }
    return x.value == y.value;
  };
  return std::equal(a.items_.begin(), a.items_.end(), b.items_.begin(), b.items_.end(), same);
}

}  // namespace calque
