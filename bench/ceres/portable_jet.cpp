// Plain Ceres as most programs compile it.
#define models models_portable
#include "ceres/plain_problem.h"

PlainProblem* make_portable(const Observations& o) { return new PlainBundle(o); }
