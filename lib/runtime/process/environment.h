#pragma once
// The table of all environment variables that the library reads. docs/environment.md is the same table for users;
// `calque info` prints it with the current values.
#include <span>
#include <string>
#include <string_view>

namespace calque::runtime {

/// The variables, read once when the first function is called. CALQUE_GUARD, CALQUE_VERIFY and CALQUE_CPU are
/// read by the layers below (storage, passes, code generation) and are listed here for `calque info`.
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
  std::string log = "warn";  ///< CALQUE_LOG
  std::string dump;          ///< CALQUE_DUMP: a folder; empty: none
};

/// The current environment. Tests change it through `mutable_environment` before they start threads.
const Environment& environment();
Environment& mutable_environment();

struct Variable {
  std::string_view name;
  std::string_view values;
  std::string_view meaning;
};
/// One row per variable.
std::span<const Variable> environment_table();

}  // namespace calque::runtime
