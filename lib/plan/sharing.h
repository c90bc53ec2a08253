#pragma once
// Maps and reductions over one space in one kernel: a loss and its gradient, the statistics of rows and what is made of
// the rows.
#include <optional>
#include <string>
#include <unordered_map>

#include "plan/planner.h"

namespace calque::plan {

/// The loops that the roots of such a kernel share: over `full`, of which the dimensions `reduced` are the inner ones.
/// Extents of 1 do not count. A root is a value on all of it, or on what is left without the reduced dimensions.
struct Frame {
  Extents full, kept;
  Extents reduced;  ///< positions in `full`, rising
  bool valid() const { return !reduced.empty(); }
  bool by_rows() const { return reduced.back() + 1 == static_cast<int64_t>(full.size()) && is_run(); }
  bool is_run() const { return reduced.back() - reduced.front() + 1 == static_cast<int64_t>(reduced.size()); }
  friend bool operator==(const Frame&, const Frame&) = default;
};

/// Decides what may share loops. Work is bounded: beyond, nothing shares.
class Sharing {
 public:
  /// `step_of`, by value id: the step at which a value in memory is computed.
  Sharing(Planner& planner, const std::vector<int32_t>& step_of);

  /// The frame of the reductions that a root's kernel computes for it. Invalid when there are none; `mixed` when there
  /// are several frames.
  Frame frame_of(Value root, bool& mixed);

  /// Whether the root can be computed in the loops of the kernel at `step`. Notes how many reductions in a row its
  /// loops have to wait for, or the reason why not.
  bool fits(Value root, const Frame& frame, int32_t step);
  const std::string& reason() const { return reason_; }

  /// How many reductions the loops of a root of such a kernel wait for.
  int stage(Value root) const;

 private:
  enum class At : uint8_t { other, kept, full };
  struct Item {
    Value v;
    At at;
    int stage = 0;
    int latest = 0;  ///< the last stage whose loop wants it
  };
  bool collect(Value root, const Frame& frame, int32_t step);
  At operand(const Equation& e, Value o, At at, const Frame& frame) const;
  bool expands(Value v, Value root) const;
  void compute_stages(Value root, const Frame& frame);
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  Planner& p_;
  const std::vector<int32_t>& step_of_;
  std::vector<Item> items_;
  std::string reason_;
  bool any_reductions_;
  std::vector<uint32_t> seen_;  // by value id: the last walk that saw it
  uint32_t walk_ = 0;
  size_t budget_;
};

}  // namespace calque::plan
