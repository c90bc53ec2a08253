#pragma once
// Shared by all control flow: how bodies run, and how their types are checked.
#include <string>
#include <string_view>
#include <vector>

#include "calque/detail/control/control.h"

#include "frontend/ops/common.h"

namespace calque::detail {

using Handles = std::vector<Handle>;

/// True in an eager trace, where bodies run iteration by iteration in the trace itself. Throws CompileError when bodies
/// are nested more than kMaxDepth deep.
bool runs_eagerly(std::string_view operation, const ControlSite& site);
/// Runs a body in the trace itself.
Handles run_body(BodyRef body, std::span<const Handle> inputs);
std::vector<Type> types_of(std::span<const Handle> values);
/// The path of a leaf and the user's line: ` (path .velocity, model.cpp:42)`.
std::string where_leaf(const ControlSite& site, size_t leaf);
/// Throws ShapeError or DTypeError when a carry changes: `scan: carry changes shape, f32[3] in and f32[4] out`. The
/// first `num_internal` leaves were added by the library and have no path.
void check_carry(std::string_view operation, std::span<const Type> in, std::span<const Type> out,
                 const ControlSite& site, size_t num_internal = 0);
/// `x` as a rank-0 value. Throws ShapeError that names it as `what`.
Handle scalar(const Operand& x, std::string_view what, const ops::Site& site);

/// while_loop and scan under the name of the function that the user called; the first `num_internal` leaves of the
/// carry were added by the library.
Handles while_named(std::string_view operation, BodyRef condition, BodyRef body, std::span<const Handle> initial,
                    const ControlSite& site, bool per_element, size_t num_internal);
Handles scan_named(std::string_view operation, BodyRef body, std::span<const Handle> carry, std::span<const Handle> xs,
                   const ScanParameters& parameters, const ControlSite& site, size_t num_internal);

}  // namespace calque::detail
