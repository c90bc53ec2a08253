#pragma once
// All environment variables that the library reads, in one table, and the only functions that read them. `calque info`
// prints the table; a test compares it with docs/environment.md.
#include <string>
#include <string_view>
#include <vector>

namespace calque {

struct EnvironmentVariable {
  std::string_view name;
  std::string_view values;
  std::string_view otherwise;  ///< what holds when it is not set
  std::string_view meaning;
};

inline constexpr EnvironmentVariable kEnvironmentTable[] = {
    {"CALQUE_DISABLE_JIT", "0, 1", "0",
     "1: the outermost lambda runs eagerly, each operation evaluated as it is recorded; tracers have values"},
    {"CALQUE_BACKEND", "cpu, reference", "cpu", "reference: compiled graphs run on the reference evaluator"},
    {"CALQUE_DEVICE", "cpu, gpu_sim, gpu, gpu:N", "cpu", "the device of functions whose arguments are all on the host"},
    {"CALQUE_LIBCUDA", "a path", "libcuda.so.1", "the library that is opened as CUDA's driver"},
    {"CALQUE_LIBCUBLASLT", "paths separated by colons, off",
     "those of the loader, the CUDA toolkit and Python packages", "the libraries that are tried as cuBLASLt"},
    {"CALQUE_LIBNCCL", "paths separated by colons, off", "those of the loader, the CUDA toolkit and Python packages",
     "the libraries that are tried as NCCL"},
    {"CALQUE_STRICT", "0, 1", "0", "1: every function is compiled as with .strict = true"},
    {"CALQUE_GUARD", "0, 1", "0", "1: every buffer ends at an inaccessible page"},
    {"CALQUE_SANITIZE_CODE", "0, 1", "0", "1: LLVM's AddressSanitizer pass runs over generated code"},
    {"CALQUE_VERIFY", "0, 1", "0; 1 in debug builds", "1: graphs and kernels are verified after every pass"},
    {"CALQUE_CPU", "an LLVM CPU name", "the host's", "the CPU that code is generated for"},
    {"CALQUE_NUM_THREADS", "1 to 1024", "all processors", "the maximum number of threads of one kernel"},
    {"CALQUE_CODE_MEMORY", "bytes, as 64M or 2G", "256M",
     "capacity of the caches of code and captured data, per function and per process"},
    {"CALQUE_CACHE_DIR", "a path, off", "`calque` in `$XDG_CACHE_HOME`, else in `~/.cache`",
     "the folder of compiled code that processes share"},
    {"CALQUE_CACHE_SIZE", "bytes, as 64M or 2G", "1G", "capacity of that folder"},
    {"CALQUE_TIER", "automatic, quick, best", "automatic",
     "how much is optimized before the first call runs, for functions that do not choose"},
    {"CALQUE_LOG", "off, error, warn, info, debug, trace; compile", "warn",
     "how much is logged to standard error; compile: the time of each stage of each compilation"},
    {"CALQUE_MPI_CHECK", "0, 1", "0",
     "1: ranks compare operation, dtype, shape and line before each call of MPI; a mismatch is an error on all"},
    {"CALQUE_DUMP", "a path", "none", "a folder into which the program is written after each pass of each compilation"},
    {"CALQUE_DUMP_AFTER", "a pass", "every pass", "the only pass after which CALQUE_DUMP writes"},
};

/// Variables of the system, of CUDA and of Python: where cuBLASLt and NCCL may be installed, and the user's folders.
inline constexpr std::string_view kForeignVariables[] = {"CUDA_HOME",   "CUDA_PATH",    "PATH", "PYTHONPATH",
                                                         "VIRTUAL_ENV", "CONDA_PREFIX", "HOME", "XDG_CACHE_HOME"};

/// A name of the tables; any other does not compile.
class VariableName {
 public:
  consteval VariableName(const char* name) : name_(name) {
    bool known = false;
    for (const EnvironmentVariable& variable : kEnvironmentTable) known |= variable.name == name;
    for (const std::string_view foreign : kForeignVariables) known |= foreign == name;
    if (!known) throw "the variable is not in the table";
  }
  const char* c_str() const { return name_; }

 private:
  const char* name_;
};

/// The current value; null if it is not set.
const char* variable(VariableName name);
/// Whether the value is 1.
bool is_on(VariableName name);

/// A variable that is set, looks like one of the library's, and is none.
struct UnknownVariable {
  std::string name;
  std::string_view nearest;  ///< the one that may have been meant; may be empty
};
/// Variables that begin with CALQUE_ and are not in the table. CALQUE_TEST_... are those of the library's own tests.
std::vector<UnknownVariable> unknown_variables();

}  // namespace calque
