// Variables that the library does not know are reported once in each process, on standard error, and others are not.
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "calque/calque.h"

#include "process/self.h"

namespace cq = calque;

namespace {

void call_functions() {
  const auto call = [] {
    if (cq::jit([](auto x) { return x + 1.0f; })(cq::Array<float>{1})(0) != 2) cq::test::fail("a wrong sum");
  };
  std::thread other(call);
  call();
  other.join();
  call();
}

void expect(const std::string& variables, const std::string& wanted) {
  // What the tests themselves run with is not at issue.
  const std::string got = cq::test::run_self("env -u CALQUE_LOG " + variables, "call 2>&1 >/dev/null");
  if (got != wanted) cq::test::fail(variables + ": expected\n" + wanted + "got\n" + got);
  if (!cq::test::run_self("env -u CALQUE_LOG " + variables, "call 2>/dev/null").empty())
    cq::test::fail(variables + ": a warning is on standard output");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "call") {
    call_functions();
    return 0;
  }
  const std::string no_effect = " is none of the library's variables and has no effect";
  expect("CALQUE_NUM_THREADS=1 CALQUE_TEST_SEEDS=3 NOT_CALQUE_X=1", "");
  expect("CALQUE_NUM_THREAD=1", "calque: warning: CALQUE_NUM_THREAD" + no_effect + "; CALQUE_NUM_THREADS is one\n");
  expect("CALQUE_CAHCE_DIR=off", "calque: warning: CALQUE_CAHCE_DIR" + no_effect + "; CALQUE_CACHE_DIR is one\n");
  expect("CALQUE_XQZWY=", "calque: warning: CALQUE_XQZWY" + no_effect + "\n");
  expect("CALQUE_NUM_THREAD=1 CALQUE_LOG=error", "");
  expect("CALQUE_NUM_THREAD=1 CALQUE_LOG=off", "");
  return 0;
}
