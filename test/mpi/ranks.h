// Checks on every rank of an MPI job: a failure on one ends all with its message.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "calque/mpi.h"

#include "runtime/process/environment.h"

namespace calque::test {

/// What is compiled is run, also in its first call.
inline const bool kCompilesFirst = [] {
  runtime::mutable_environment().evaluates_first = std::getenv("CALQUE_TEST_FIRST_RUNS") != nullptr;
  return true;
}();

[[noreturn]] inline void fail_rank(const std::string& text, Loc at) {
  std::ostringstream out;
  out << "rank " << mpi::world().rank() << ": " << text << " (" << at.file_name() << ":" << at.line() << ")\n";
  std::cerr << out.str() << std::flush;
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

inline void expect(bool holds, const std::string& what, Loc at = Loc::current()) {
  if (!holds) fail_rank("failed: " + what, at);
}

template <class T>
void expect_equal(const Array<T>& got, const Array<T>& want, const std::string& what, Loc at = Loc::current()) {
  if (array_equal(got, want, true)) return;
  std::ostringstream out;
  out << what << ": got " << got << ", want " << want;
  fail_rank(out.str(), at);
}

template <class T>
void expect_close(const Array<T>& got, const Array<T>& want, double tolerance, const std::string& what,
                  Loc at = Loc::current()) {
  if (allclose(got, want, tolerance, tolerance)) return;
  std::ostringstream out;
  out << what << ": got " << got << ", want " << want;
  fail_rank(out.str(), at);
}

}  // namespace calque::test
