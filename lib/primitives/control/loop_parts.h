#pragma once
// The operand and result groups of loops (constants, carry, slices), and lists of positions to reorder them.
#include <cstddef>
#include <span>
#include <vector>

#include "primitives/core/rule.h"

namespace calque::primitives {

/// A scan's operands: consts, carry, xs; its results: carry, ys.
struct ScanParts {
  size_t consts, carry, xs, ys;

  explicit ScanParts(const Equation& e)
      : consts(static_cast<size_t>(e.attributes().integer("consts"))),
        carry(static_cast<size_t>(e.attributes().integer("carry"))),
        xs(e.operands().size() - consts - carry),
        ys(e.results().size() - carry) {}
  size_t first_x() const { return consts + carry; }
};

/// A while's operands: constants of the condition, constants of the body, carry.
struct WhileParts {
  size_t cond_consts, body_consts, carry;

  explicit WhileParts(const Equation& e)
      : cond_consts(static_cast<size_t>(e.attributes().integer("cond_consts"))),
        body_consts(static_cast<size_t>(e.attributes().integer("body_consts"))),
        carry(e.operands().size() - cond_consts - body_consts) {}
  size_t first_carry() const { return cond_consts + body_consts; }
};

/// The number of set entries in [first, end) of the mask.
inline size_t count_true(const std::vector<bool>& mask, size_t first, size_t end) {
  size_t n = 0;
  for (size_t i = first; i < end; ++i) n += mask[i] ? 1 : 0;
  return n;
}

/// A list of positions built from ranges.
class Positions {
 public:
  Positions& range(size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) list_.push_back(first + i);
    return *this;
  }
  operator std::span<const size_t>() const { return list_; }

 private:
  std::vector<size_t> list_;
};

/// `count` entries of the mask from `first` on.
inline std::vector<bool> slice_of(const std::vector<bool>& mask, size_t first, size_t count) {
  return {mask.begin() + static_cast<std::ptrdiff_t>(first), mask.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

/// Sets the entries of `mask` that are set in `other`, which has the same length.
inline void merge_into(std::vector<bool>& mask, const std::vector<bool>& other) {
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i] || other[i];
}

inline void append(std::vector<bool>& a, const std::vector<bool>& b) { a.insert(a.end(), b.begin(), b.end()); }

/// The given sub-graphs as a list.
inline std::vector<Graph> graphs(Graph g) {
  std::vector<Graph> list;
  list.push_back(std::move(g));
  return list;
}
inline std::vector<Graph> graphs(Graph g, Graph h) {
  std::vector<Graph> list = graphs(std::move(g));
  list.push_back(std::move(h));
  return list;
}

}  // namespace calque::primitives
