#include "runtime/routines/routines.h"

#include <type_traits>

#include "calque/ir/errors.h"

#include "codegen/codegen.h"
#include "ir/fork.h"
#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {

namespace dense_v2 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
}  // namespace dense_v2
#ifdef __x86_64__
namespace dense_v3 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
}  // namespace dense_v3
namespace dense_v4 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
}  // namespace dense_v4
#endif

template <class T>
const DenseRoutines<T>& dense_routines() {
  const auto of = [](const DenseRoutines<float>& floats,
                     const DenseRoutines<double>& doubles) -> const DenseRoutines<T>& {
    if constexpr (std::is_same_v<T, float>) {
      return (void)doubles, floats;
    } else {
      return (void)floats, doubles;
    }
  };
#ifdef __x86_64__
  static const int bits = codegen::target_limits({}).vector_bits;
  if (bits >= 512 && __builtin_cpu_supports("x86-64-v4")) return of(dense_v4::kFloats, dense_v4::kDoubles);
  if (bits >= 256 && __builtin_cpu_supports("x86-64-v3")) return of(dense_v3::kFloats, dense_v3::kDoubles);
#endif
  return of(dense_v2::kFloats, dense_v2::kDoubles);
}

template const DenseRoutines<float>& dense_routines<float>();
template const DenseRoutines<double>& dense_routines<double>();

namespace {

using primitives::Routine;

template <class T>
void run(const RoutineRef& r, void* const* pointers) {
  switch (r.routine) {
    case Routine::cholesky:
      return cholesky<T>(r, pointers);
    case Routine::triangular_solve:
      return triangular_solve<T>(r, pointers);
    case Routine::lu:
      return lu<T>(r, pointers);
    case Routine::qr:
      return qr<T>(r, pointers);
    case Routine::sort:  // of other dtypes, too
      return sort(r, pointers);
  }
}

}  // namespace

void run_routine(const RoutineRef& r, void* const* pointers) {
  if (r.routine == Routine::sort) return sort(r, pointers);
  switch (r.arguments[0].dtype) {
    case DType::f32:
      return run<float>(r, pointers);
    case DType::f64:
      return run<double>(r, pointers);
    case DType::c64:
      return run_complex<float>(r, pointers);
    case DType::c128:
      return run_complex<double>(r, pointers);
    default:
      throw CompileError("routine " + std::string(primitives::kRoutineNames[static_cast<size_t>(r.routine)]) +
                         ": is not there for " + to_string(r.arguments[0]));
  }
}

}  // namespace calque::runtime
