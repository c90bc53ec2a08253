#pragma once
// The whole public interface, except for Eigen matrices of tracers and conversions, which are in <calque/eigen.h>.
// Includes the standard headers whose types and streams programs usually need with it.
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

#include "calque/array.h"
#include "calque/control.h"
#include "calque/device.h"
#include "calque/function.h"
#include "calque/functions.h"
#include "calque/ir/errors.h"
#include "calque/ir/graph.h"
#include "calque/ir/interpreter.h"
#include "calque/jit.h"
#include "calque/linalg.h"
#include "calque/random.h"
#include "calque/tracer.h"
#include "calque/transform.h"
#include "calque/tree.h"
#include "calque/trees.h"
