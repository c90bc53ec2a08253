#pragma once
// Shared by the front ends of implicit differentiation.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/detail/trace.h"
#include "calque/detail/transforms/transform.h"

namespace calque::detail {

/// The tracers of enclosing traces that several functions use, in order of first use.
class CapturedTracers {
 public:
  void add(const TraceResult& function);
  size_t find(Handle h) const;
  const std::vector<Handle>& all() const { return all_; }

 private:
  std::vector<Handle> all_;
};

/// The function's graph with inputs for its `own` first ones, then for values of the types `skipped`, which it does not
/// use, and for all captures: behind them, or in front.
Graph with_operands(const TraceResult& function, size_t own, std::span<const Type> skipped,
                    const CapturedTracers& captures, Location location, bool captures_first);

/// Throws DTypeError or ShapeError when the first results of a function are not of the types expected, which are those
/// of `like`.
void require_results(const std::vector<Type>& got, std::span<const Type> expected, std::string_view what,
                     std::string_view like, const std::vector<std::string>& results, const TransformSite& site);

}  // namespace calque::detail
