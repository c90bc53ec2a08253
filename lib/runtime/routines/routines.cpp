#include "runtime/routines/routines.h"

#include "calque/ir/errors.h"

#include "codegen/codegen.h"
#include "ir/fork.h"
#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"
#include "runtime/routines/fft.h"
#include "runtime/routines/keys.h"
#include "runtime/routines/spectra.h"

namespace calque::runtime {

namespace dense_v2 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
extern const KeyRoutines kKeys;
extern const FftRoutines<float> kFftFloats;
extern const FftRoutines<double> kFftDoubles;
}  // namespace dense_v2
namespace spectra_v2 {
extern const SpectralRoutines<float> kFloatSpectra;
extern const SpectralRoutines<double> kDoubleSpectra;
extern const SpectralRoutines<std::complex<float>> kComplexFloatSpectra;
extern const SpectralRoutines<std::complex<double>> kComplexDoubleSpectra;
}  // namespace spectra_v2
namespace eig_v2 {
extern const EigRoutines<float> kFloatEig;
extern const EigRoutines<double> kDoubleEig;
extern const EigRoutines<std::complex<float>> kComplexFloatEig;
extern const EigRoutines<std::complex<double>> kComplexDoubleEig;
}  // namespace eig_v2
#ifdef __x86_64__
namespace dense_v3 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
extern const KeyRoutines kKeys;
extern const FftRoutines<float> kFftFloats;
extern const FftRoutines<double> kFftDoubles;
}  // namespace dense_v3
namespace dense_v4 {
extern const DenseRoutines<float> kFloats;
extern const DenseRoutines<double> kDoubles;
extern const KeyRoutines kKeys;
extern const FftRoutines<float> kFftFloats;
extern const FftRoutines<double> kFftDoubles;
}  // namespace dense_v4
namespace spectra_v3 {
extern const SpectralRoutines<float> kFloatSpectra;
extern const SpectralRoutines<double> kDoubleSpectra;
extern const SpectralRoutines<std::complex<float>> kComplexFloatSpectra;
extern const SpectralRoutines<std::complex<double>> kComplexDoubleSpectra;
}  // namespace spectra_v3
namespace eig_v3 {
extern const EigRoutines<float> kFloatEig;
extern const EigRoutines<double> kDoubleEig;
extern const EigRoutines<std::complex<float>> kComplexFloatEig;
extern const EigRoutines<std::complex<double>> kComplexDoubleEig;
}  // namespace eig_v3
namespace spectra_v4 {
extern const SpectralRoutines<float> kFloatSpectra;
extern const SpectralRoutines<double> kDoubleSpectra;
extern const SpectralRoutines<std::complex<float>> kComplexFloatSpectra;
extern const SpectralRoutines<std::complex<double>> kComplexDoubleSpectra;
}  // namespace spectra_v4
namespace eig_v4 {
extern const EigRoutines<float> kFloatEig;
extern const EigRoutines<double> kDoubleEig;
extern const EigRoutines<std::complex<float>> kComplexFloatEig;
extern const EigRoutines<std::complex<double>> kComplexDoubleEig;
}  // namespace eig_v4
#endif

namespace {

/// One of three, for the processor.
template <class Routines>
const Routines& of_level([[maybe_unused]] const Routines* const (&levels)[3]) {
#ifdef __x86_64__
  static const int bits = codegen::target_limits({}).vector_bits;
  if (bits >= 512 && __builtin_cpu_supports("x86-64-v4")) return *levels[2];
  if (bits >= 256 && __builtin_cpu_supports("x86-64-v3")) return *levels[1];
#endif
  return *levels[0];
}

}  // namespace

#ifdef __x86_64__
#define CALQUE_LEVELS(of, routines) {&of##_v2::routines, &of##_v3::routines, &of##_v4::routines}
#else
#define CALQUE_LEVELS(of, routines) {&of##_v2::routines, nullptr, nullptr}
#endif
#ifdef CALQUE_ONE_SPECTRAL_LEVEL  // of builds with sanitizers
#define CALQUE_SPECTRAL_LEVELS(of, routines) {&of##_v2::routines, &of##_v2::routines, &of##_v2::routines}
#else
#define CALQUE_SPECTRAL_LEVELS CALQUE_LEVELS
#endif

template <>
const DenseRoutines<float>& dense_routines<float>() {
  return of_level<DenseRoutines<float>>(CALQUE_LEVELS(dense, kFloats));
}
template <>
const DenseRoutines<double>& dense_routines<double>() {
  return of_level<DenseRoutines<double>>(CALQUE_LEVELS(dense, kDoubles));
}
template <>
const FftRoutines<float>& fft_routines<float>() {
  return of_level<FftRoutines<float>>(CALQUE_LEVELS(dense, kFftFloats));
}
template <>
const FftRoutines<double>& fft_routines<double>() {
  return of_level<FftRoutines<double>>(CALQUE_LEVELS(dense, kFftDoubles));
}
const KeyRoutines& key_routines() { return of_level<KeyRoutines>(CALQUE_LEVELS(dense, kKeys)); }

#define CALQUE_SPECTRA(T, name)                                                              \
  template <>                                                                                \
  const SpectralRoutines<T>& spectral_routines<T>() {                                        \
    return of_level<SpectralRoutines<T>>(CALQUE_SPECTRAL_LEVELS(spectra, k##name##Spectra)); \
  }                                                                                          \
  template <>                                                                                \
  const EigRoutines<T>& eig_routines<T>() {                                                  \
    return of_level<EigRoutines<T>>(CALQUE_SPECTRAL_LEVELS(eig, k##name##Eig));              \
  }
CALQUE_SPECTRA(float, Float)
CALQUE_SPECTRA(double, Double)
CALQUE_SPECTRA(std::complex<float>, ComplexFloat)
CALQUE_SPECTRA(std::complex<double>, ComplexDouble)

#undef CALQUE_SPECTRA
#undef CALQUE_SPECTRAL_LEVELS
#undef CALQUE_LEVELS

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
    case Routine::eigh:
      return eigh<T>(r, pointers);
    case Routine::svd:
      return svd<T>(r, pointers);
    case Routine::eig:
      return eig<T>(r, pointers);
    case Routine::fft:
      return fft<T>(r, pointers);
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
