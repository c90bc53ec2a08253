#pragma once
#include <cfenv>

namespace calque {

/// During its lifetime the calling thread rounds to nearest and does not flush subnormal numbers, whatever the caller's
/// mode: compilation folds constants, and its result must not depend on who compiles.
class DefaultFloatingPointMode {
 public:
  DefaultFloatingPointMode() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPointMode() { std::fesetenv(&saved_); }
  DefaultFloatingPointMode(const DefaultFloatingPointMode&) = delete;
  DefaultFloatingPointMode& operator=(const DefaultFloatingPointMode&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace calque
