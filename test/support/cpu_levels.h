#pragma once
#include <string>
#include <vector>

#include "support/sanitizers.h"

namespace calque::test {

/// The levels that this processor can run. Under a sanitizer only the host's: generated code is that of the other
/// builds and, instrumented, takes long to compile.
inline std::vector<std::string> cpu_levels() {
  if (kAddressSanitizer || kThreadSanitizer) return {"native"};
  std::vector<std::string> out{"x86-64-v2"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    out.push_back("x86-64-v3");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    out.push_back("x86-64-v4");
  out.push_back("native");
  return out;
}

}  // namespace calque::test
