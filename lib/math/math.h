// Includes all of lib/math. math/lane.h explains how to instantiate it for another type.
#pragma once

#include "math/elementary/exponential.h"
#include "math/elementary/hyperbolic.h"
#include "math/elementary/inverse_trigonometric.h"
#include "math/elementary/logarithm.h"
#include "math/elementary/power.h"
#include "math/elementary/remainder.h"
#include "math/elementary/trigonometric.h"
#include "math/special/bessel.h"
#include "math/special/error_function.h"
#include "math/special/gamma.h"
#include "math/special/normal.h"
#include "math/special/polygamma.h"
#include "math/special/zeta.h"
