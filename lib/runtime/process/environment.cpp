// Reads the environment once. An unknown value of a variable is reported, never guessed at.
#include "runtime/process/environment.h"

#include <charconv>
#include <cstdlib>

#include <spdlog/spdlog.h>

#include "calque/ir/errors.h"

#include "runtime/process/log.h"

namespace calque::runtime {
namespace {

constexpr Variable kTable[] = {
    {"CALQUE_DISABLE_JIT", "0, 1",
     "1: the outermost lambda runs eagerly, each operation evaluated as it is recorded; tracers have values"},
    {"CALQUE_BACKEND", "cpu, reference", "reference: compiled graphs run on the reference evaluator"},
    {"CALQUE_DEVICE", "cpu, gpu_sim, gpu, gpu:N",
     "the device of functions whose arguments are all on the host (default: cpu)"},
    {"CALQUE_LIBCUDA", "a path", "the library that is opened as CUDA's driver (default: libcuda.so.1)"},
    {"CALQUE_LIBCUBLASLT", "paths separated by colons, off",
     "the libraries that are tried as cuBLASLt (default: those of the loader, the CUDA toolkit and Python packages)"},
    {"CALQUE_STRICT", "0, 1", "1: every function is compiled as with .strict = true"},
    {"CALQUE_GUARD", "0, 1", "1: every buffer ends at an inaccessible page"},
    {"CALQUE_SANITIZE_CODE", "0, 1", "1: LLVM's AddressSanitizer pass runs over generated code"},
    {"CALQUE_VERIFY", "0, 1", "1: graphs and kernels are verified after every pass"},
    {"CALQUE_CPU", "an LLVM CPU name", "the CPU that code is generated for (default: the host's)"},
    {"CALQUE_NUM_THREADS", "1 to 1024", "the maximum number of threads of one kernel (default: all processors)"},
    {"CALQUE_CODE_MEMORY", "bytes, as 64M or 2G",
     "capacity of the caches of code and captured data, per function and per process (default: 256M)"},
    {"CALQUE_LOG", "off, error, warn, info, debug, trace; compile",
     "how much is logged to standard error (default: warn); compile: the time of each stage of each compilation"},
    {"CALQUE_DUMP", "a path", "a folder into which the program is written after each pass of each compilation"},
};

bool flag(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return false;
  const std::string_view value(text);
  if (value == "1") return true;
  if (value != "0") log().warn("{}={} is neither 0 nor 1; taken as 0", name, value);
  return false;
}

int number_of_threads() {
  const char* text = std::getenv("CALQUE_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view value(text);
  int n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error == std::errc() && end == value.data() + value.size() && n >= 1 && n <= 1024) return n;
  log().warn("CALQUE_NUM_THREADS={} is no number from 1 to 1024; all processors are used", value);
  return 0;
}

size_t bytes_of_code(size_t otherwise) {
  const char* text = std::getenv("CALQUE_CODE_MEMORY");
  if (text == nullptr || *text == '\0') return otherwise;
  const std::string_view value(text);
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  const std::string_view unit(end, static_cast<size_t>(value.data() + value.size() - end));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error == std::errc() && shift >= 0 && n <= SIZE_MAX >> shift) return static_cast<size_t>(n) << shift;
  log().warn("CALQUE_CODE_MEMORY={} is no number of bytes such as 64M or 2G; taken as 256M", value);
  return otherwise;
}

Environment read() {
  Environment e;
  if (const char* text = std::getenv("CALQUE_LOG"); text != nullptr && *text != '\0') e.log = text;
  set_log(e.log);
  if (const char* text = std::getenv("CALQUE_DUMP"); text != nullptr) e.dump = text;
  e.disable_jit = flag("CALQUE_DISABLE_JIT");
  if (const char* text = std::getenv("CALQUE_DEVICE"); text != nullptr) e.device = text;
  e.strict = flag("CALQUE_STRICT");
  e.guard = flag("CALQUE_GUARD");
  e.sanitize = flag("CALQUE_SANITIZE_CODE");
  e.num_threads = number_of_threads();
  e.code_memory = bytes_of_code(e.code_memory);
  if (const char* text = std::getenv("CALQUE_BACKEND"); text != nullptr && *text != '\0') {
    const std::string_view value(text);
    e.reference_backend = value == "reference";
    if (value != "reference" && value != "cpu") log().warn("CALQUE_BACKEND={} is neither cpu nor reference", value);
  }
  return e;
}

}  // namespace

Environment& mutable_environment() {
  static Environment& environment = *new Environment(read());  // calls may still run while the program ends
  return environment;
}

const Environment& environment() { return mutable_environment(); }

std::span<const Variable> environment_table() { return kTable; }

}  // namespace calque::runtime
