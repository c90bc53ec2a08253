#pragma once
// The whole public interface, except for Eigen matrices of tracers and conversions, which are in <calque/eigen.h>.
// Includes the standard headers whose types and streams programs usually need with it.
//
// In the examples of docstrings D, F, I and B are Array<double>, Array<float>, Array<int32_t> and Array<bool>, and what
// is behind `//` is what `std::cout <<` prints of the expression, of several results with commas between them.
#if __cplusplus < 202002L
#error "calque needs C++20: compile with -std=c++20, or set CMAKE_CXX_STANDARD to 20"
#else
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Headers with errors for users come first, from the innermost outwards: before an error in one of them compilers print
// by which headers it was included.
// clang-format off
#include "calque/detail/promotion.h"
#include "calque/detail/trees/fields.h"
#include "calque/detail/trees/check.h"
#include "calque/detail/trees/fit.h"
#include "calque/index.h"
#include "calque/detail/members.h"
#include "calque/tracer.h"
#include "calque/array.h"
#include "calque/detail/trees/traced.h"
#include "calque/detail/std_functions.h"
#include "calque/detail/transforms/chosen.h"
#include "calque/detail/transforms/gradient.h"
#include "calque/detail/transforms/jacobian.h"
#include "calque/detail/transforms/implicit_trees.h"
// clang-format on
#include "calque/branch_tree.h"
#include "calque/branches.h"
#include "calque/collectives.h"
#include "calque/control.h"
#include "calque/device.h"
#include "calque/fft.h"
#include "calque/function.h"
#include "calque/functions.h"
#include "calque/functors.h"
#include "calque/implicit.h"
#include "calque/ir/errors.h"
#include "calque/ir/graph.h"
#include "calque/ir/interpreter.h"
#include "calque/jit.h"
#include "calque/linalg.h"
#include "calque/losses.h"
#include "calque/random.h"
#include "calque/rotations.h"
#include "calque/transform.h"
#include "calque/tree.h"
#include "calque/trees.h"
#include "calque/version.h"
#endif
