#pragma once
// What happens when C++ code asks for the value of a tracer, as `if (x > 0)` and `int(k)` do.
#include <cstddef>
#include <cstdint>

namespace calque {

/// What happens when C++ code asks for the value of a tracer of bool, as `if (x > 0)` does, or of an integer, as
/// `int(k)` does.
enum class branches : uint8_t {
  refuse,  ///< ConcretizationError
  /// The lambda runs along the path that the data takes. The paths that calls have taken so far are compiled as one
  /// function with real branches; a call that leaves them runs the lambda again, and its path joins the others. Only
  /// sides that some call takes are ever run. Side effects of the lambda happen whenever it runs. Derivatives are those
  /// of the path that the primals take; under vmap all examples give the same answer (else ConcretizationError).
  trace,
  /// The lambda is traced again for each answer, and the results are joined by `cond`: of all questions, whatever the
  /// data. At most 4096 paths of 128 questions (CompileError that names the lines that ask). Results of all paths have
  /// the same shapes, types and static values (ShapeError, DTypeError). Side effects of the lambda happen once for each
  /// path. Of integers ConcretizationError.
  all,
};

/// How repeated questions of one line of C++, those of a loop, are compiled with `branches::trace`. Today each is a
/// branch of its own under all three: `proved` and `assumed` are permissions that are not made use of yet.
enum class loops : uint8_t {
  proved,    ///< as native loops, whose results are returned once a run of the lambda has proved the count
  assumed,   ///< as native loops, of any count once enough counts were proved
  unrolled,  ///< as branches
};

/// The limits of what is compiled for one signature with `branches::trace`. A call beyond them runs the lambda and then
/// what it recorded, each time: slowly, and with a warning, but rightly.
struct TraceLimits {
  int traces = 64;          ///< paths
  int questions = 4096;     ///< of one path
  int values = 8;           ///< of one integer that is asked for
  int equations = 100'000;  ///< of all paths together
};

/// What `branches::trace` has made for one signature.
struct BranchInfo {
  size_t traces = 0;        ///< paths that are compiled
  size_t compilations = 0;  ///< of the function with the paths known at a time
  size_t replays = 0;       ///< runs of the lambda along answers that compiled code had given
  size_t loops = 0;         ///< native loops made of repeated questions
  size_t open_exits = 0;    ///< answers that no call has given yet
};

}  // namespace calque
