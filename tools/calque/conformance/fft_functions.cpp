#include "calque/conformance/fft_functions.h"

#include "calque/detail/fft.h"

namespace calque::cli {
namespace {

namespace ops = detail::ops::fft;
using detail::Handle;
using detail::Operand;
using fft::norm;
using Handles = std::vector<Handle>;

norm norm_of(const FunctionCall& c) {
  if (!c.params.has("norm")) return norm::backward;
  const std::string name = c.params.text("norm");
  if (name == "backward") return norm::backward;
  if (name == "ortho") return norm::ortho;
  if (name == "forward") return norm::forward;
  throw CaseError("norm: cannot be read from " + name);
}

std::vector<int64_t> sizes_of(const FunctionCall& c) {
  return c.params.has("sizes") ? c.params.integers("sizes") : std::vector<int64_t>();
}

template <Handle (*F)(const Operand&, std::optional<int64_t>, int, norm, Location)>
Handles one_axis(const FunctionCall& c) {
  c.expect_operands(1);
  std::optional<int64_t> n;
  if (c.params.has("n")) n = c.params.integer("n");
  return {F(c.operand(0), n, c.params.has("axis") ? c.params.axis() : -1, norm_of(c), c.at)};
}
template <Handle (*F)(const Operand&, std::span<const int64_t>, const Axes&, norm, Location)>
Handles two_axes(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), sizes_of(c), c.params.has("axes") ? c.params.axes() : Axes({-2, -1}), norm_of(c), c.at)};
}
template <Handle (*F)(const Operand&, std::span<const int64_t>, const Axes&, norm, Location)>
Handles several_axes(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), sizes_of(c), c.params.axes(), norm_of(c), c.at)};
}
template <Handle (*F)(DType, int64_t, double, Location)>
Handles frequencies(const FunctionCall& c) {
  return {F(c.params.dtype(), c.params.integer("n"), c.params.has("d") ? c.params.number("d") : 1, c.at)};
}
template <Handle (*F)(const Operand&, const Axes&, Location)>
Handles shift(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.axes(), c.at)};
}
Handles convolve(const FunctionCall& c) {
  c.expect_operands(2);
  const std::string mode = c.params.has("mode") ? c.params.text("mode") : "full";
  if (mode != "full" && mode != "same" && mode != "valid") throw CaseError("mode: cannot be read from " + mode);
  const convolve_mode keep = mode == "full"   ? convolve_mode::full
                             : mode == "same" ? convolve_mode::same
                                              : convolve_mode::valid;
  return {ops::convolve(c.operand(0), c.operand(1), keep, c.at)};
}

}  // namespace

const std::map<std::string_view, Handles (*)(const FunctionCall&)>& fft_functions() {
  static const std::map<std::string_view, Handles (*)(const FunctionCall&)> table = {
#define CALQUE_X(f) {"fft." #f, &one_axis<&ops::f>},
      CALQUE_FFT_ONE_AXIS(CALQUE_X)
#undef CALQUE_X
#define CALQUE_X(f) {"fft." #f, &two_axes<&ops::f>},
          CALQUE_FFT_TWO_AXES(CALQUE_X)
#undef CALQUE_X
#define CALQUE_X(f) {"fft." #f, &several_axes<&ops::f>},
              CALQUE_FFT_AXES(CALQUE_X)
#undef CALQUE_X
                  {"fft.fftfreq", &frequencies<&ops::fftfreq>},
      {"fft.rfftfreq", &frequencies<&ops::rfftfreq>},
      {"fft.fftshift", &shift<&ops::fftshift>},
      {"fft.ifftshift", &shift<&ops::ifftshift>},
      {"fft.convolve", &convolve},
  };
  return table;
}

}  // namespace calque::cli
