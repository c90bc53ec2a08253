// Out of memory anywhere in the code generator, LLVM included: throws an exception, after which functions compile
// again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include <unwind.h>

#include "calque/calque.h"

#include "codegen/codegen.h"
#include "compile/passes.h"

namespace cq = calque;

namespace {

thread_local long until_failure = -1;          // negative: never
thread_local std::uintptr_t caller_frame = 0;  // frame of the function that catches the failure
int failures = 0;
int passed_over = 0;

/// Whether an exception thrown here can reach `caller_frame`: codegen/llvm/llvm_errors.h says which frames stop it.
bool can_unwind() {
  bool reached = false;
  const auto visit = [](_Unwind_Context* frame, void* result) {
    if (_Unwind_GetCFA(frame) < caller_frame) return _URC_NO_REASON;
    *static_cast<bool*>(result) = true;
    return _URC_NORMAL_STOP;
  };
  _Unwind_Backtrace(visit, &reached);
  return reached;
}

bool must_fail() {
  if (until_failure < 0 || until_failure-- > 0) return false;
  if (can_unwind()) return true;
  ++passed_over;
  until_failure = 0;  // fail at the next allocation instead
  return false;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (must_fail()) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (must_fail()) return nullptr;
  return std::malloc(bytes != 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

/// LLVM's objects in use when memory runs out are leaked (codegen/llvm/llvm_errors.h), so LeakSanitizer is disabled.
extern "C" int __lsan_is_turned_off() { return 1; }

namespace {

/// A distinct function for each number.
auto function(int number) {
  const float k = 1 + static_cast<float>(number) / 1024;
  return cq::jit([k](auto x) {
    const auto y = cq::fori_loop(0, 3, [k](auto, auto s) { return s * k; }, x);
    return sum(y) / (64 * k * k * k) + 0.0f * sum(exp(x));
  });
}

enum class Output { code, listing };

/// Whether the failing allocation was reached.
bool compile_with_failure(int number, long allocation, Output output) {
  const cq::Graph graph = function(number).trace(cq::Array<float>::ones({64}));
  cq::runtime::Compilation c(graph, {}, {});
  const std::string_view planned = cq::runtime::last_program_pass(c.kind);
  cq::runtime::run_passes(c, cq::runtime::kTracePass.name, planned);
  caller_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  until_failure = allocation;
  try {
    if (output == Output::code) {
      cq::runtime::run_passes(c, planned);
    } else {
      cq::runtime::make_assembly(c, planned);
    }
  } catch (const cq::CompileError&) {
    ++failures;
  } catch (const std::bad_alloc&) {  // no memory for the message either
    ++failures;
  }
  return std::exchange(until_failure, -1) < 0;
}

bool compiles(int number, long allocation) {
  const float got = function(number)(cq::Array<float>::ones({64})).item();
  if (got > 0.9999f && got < 1.0001f) return true;
  std::fprintf(stderr, "out_of_memory: %g after the failure of allocation %ld\n", static_cast<double>(got), allocation);
  return false;
}

}  // namespace

int main() {
  int number = 0;
  if (!compiles(number++, 0)) return 1;
  for (long n = 0; compile_with_failure(number++, n, Output::code); n += 1 + n / 16)
    if (!compiles(number++, n)) return 1;
  const int of_code = failures;
  // No compilation succeeds in between, so after the first failure in LLVM each attempt sets up a back end: this also
  // tests failures there, and in the passes of a listing, which are created for each.
  long n = 0;
  for (; compile_with_failure(number++, n, Output::listing); n += 1 + n / 16) continue;
  if (!compiles(number++, n)) return 1;
  std::printf("out_of_memory: %d failures, %d of them of listings; %d allocations passed over\n", failures,
              failures - of_code, passed_over);
  return of_code < 50 || failures - of_code < 50 ? 1 : 0;
}
