// All of lib/math. math/lane.h says how to instantiate it over another type.
#pragma once

#include "math/error_function.h"
#include "math/exponential.h"
#include "math/gamma.h"
#include "math/hyperbolic.h"
#include "math/inverse_trigonometric.h"
#include "math/logarithm.h"
#include "math/power.h"
#include "math/remainder.h"
#include "math/trigonometric.h"
