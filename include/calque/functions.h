#pragma once
// Every named function of arrays and tracers.
#include "calque/contractions.h"
#include "calque/creation.h"
#include "calque/effects.h"
#include "calque/elementwise.h"
#include "calque/gather_scatter.h"
#include "calque/matrices.h"
#include "calque/reductions.h"
#include "calque/shapes.h"
