#pragma once
// The type-erased versions of the functions in calque/fft.h, as those of calque/detail/ops.h. For semantics see the
// public templates.
#include <cstdint>
#include <optional>
#include <span>

#include "calque/detail/ops.h"
#include "calque/detail/vocabulary.h"

namespace calque {
namespace fft {

/// What divides the n elements that are transformed, of all axes together: n the results of inverse transforms
/// (`backward`), n those of the others (`forward`), or the square root of n both (`ortho`).
enum class norm { backward, ortho, forward };

}  // namespace fft

namespace detail::ops::fft {
using calque::fft::norm;

#define CALQUE_FFT_ONE_AXIS(X) X(fft) X(ifft) X(rfft) X(irfft) X(hfft) X(ihfft)
#define CALQUE_FFT_TWO_AXES(X) X(fft2) X(ifft2) X(rfft2) X(irfft2)
#define CALQUE_FFT_AXES(X) X(fftn) X(ifftn) X(rfftn) X(irfftn)

#define CALQUE_X(f) Handle f(const Operand& x, std::optional<int64_t> n, int axis, norm by, Location at);
CALQUE_FFT_ONE_AXIS(CALQUE_X)
#undef CALQUE_X
/// Without sizes: those of the operand.
#define CALQUE_X(f) Handle f(const Operand& x, std::span<const int64_t> sizes, const Axes& axes, norm by, Location at);
CALQUE_FFT_TWO_AXES(CALQUE_X)
CALQUE_FFT_AXES(CALQUE_X)
#undef CALQUE_X

Handle fftfreq(DType dtype, int64_t n, double d, Location at);
Handle rfftfreq(DType dtype, int64_t n, double d, Location at);
Handle fftshift(const Operand& x, const Axes& axes, Location at);
Handle ifftshift(const Operand& x, const Axes& axes, Location at);
Handle convolve(const Operand& x, const Operand& y, convolve_mode mode, Location at);

}  // namespace detail::ops::fft
}  // namespace calque
