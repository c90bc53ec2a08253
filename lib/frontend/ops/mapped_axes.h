#pragma once
// The named axes over which the functions that are being traced on this thread are mapped.
#include <memory>
#include <string_view>

#include "calque/ir/collectives.h"

namespace calque::detail {

/// RAII: while it lives, collective operations find the axis by its name; an axis without a name by every name that no
/// axis inside of it has.
class MappedAxisScope {
 public:
  /// Null: nothing is bound.
  explicit MappedAxisScope(std::shared_ptr<const MappedAxis> axis);
  ~MappedAxisScope();
  MappedAxisScope(const MappedAxisScope&) = delete;
  MappedAxisScope& operator=(const MappedAxisScope&) = delete;

 private:
  bool bound_;
};

/// The innermost axis of that name; null if there is none.
std::shared_ptr<const MappedAxis> mapped_axis(std::string_view name);

}  // namespace calque::detail
