#pragma once
// The whole public interface but Eigen's matrices of tracers and conversions, which are in <calque/eigen.h>.
#include "calque/array.h"
#include "calque/control.h"
#include "calque/device.h"
#include "calque/function.h"
#include "calque/functions.h"
#include "calque/ir/errors.h"
#include "calque/ir/graph.h"
#include "calque/ir/interpreter.h"
#include "calque/jit.h"
#include "calque/tracer.h"
#include "calque/tree.h"
