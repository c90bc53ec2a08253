#pragma once
// The transformations: functions that map functions to functions.
#include "calque/custom_rules.h"
#include "calque/derivatives.h"
#include "calque/jacobians.h"
#include "calque/vmap.h"
