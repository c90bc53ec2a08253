#pragma once
// The settings that the environment variables stand for; ir/environment.h has the table of variables.
#include <cstddef>
#include <cstdint>
#include <string>

#include "calque/tier.h"

namespace calque::runtime {

/// Read once, when the first function is called. CALQUE_LOG, CALQUE_VERIFY, CALQUE_CPU and the paths of libraries are
/// used by one component each, which reads them itself.
struct Environment {
  bool disable_jit = false;        ///< CALQUE_DISABLE_JIT=1
  bool strict = false;             ///< CALQUE_STRICT=1
  bool reference_backend = false;  ///< CALQUE_BACKEND=reference
  bool guard = false;              ///< CALQUE_GUARD=1
  bool sanitize = false;           ///< CALQUE_SANITIZE_CODE=1
  int num_threads = 0;             ///< CALQUE_NUM_THREADS; 0: all processors
  std::string device;              ///< CALQUE_DEVICE; empty: cpu
  /// CALQUE_CODE_MEMORY: bytes of code and captured arrays cached per function, and per process for all functions.
  size_t code_memory = size_t{256} << 20;
  calque::tier tier = calque::tier::automatic;  ///< CALQUE_TIER: of functions that do not choose one
  bool evaluates_first = true;                  ///< see compile/first_runs.h; false in tests of generated code
  std::string cache_folder;                     ///< CALQUE_CACHE_DIR or its default; empty: off
  uint64_t cache_bytes = uint64_t{1} << 30;     ///< CALQUE_CACHE_SIZE
  std::string dump;                             ///< CALQUE_DUMP: a folder; empty: none
  std::string dump_after;                       ///< CALQUE_DUMP_AFTER: a pass; empty: every pass
};

/// The current environment. Tests change it through `mutable_environment` before they start threads.
const Environment& environment();
Environment& mutable_environment();

}  // namespace calque::runtime
