#pragma once
// The interface between the test program and its plug-ins.
#include <vector>

#include "calque/calque.h"

namespace calque::plugins {

/// A function of the program; plug-ins call it with types that only they define.
struct Doubled {
  template <class X>
  X operator()(const X& x) const {
    X result = x;
    result.values[0] = x.values[0] * 2.0;
    return result;
  }
};
using DoubledFunction = decltype(jit(Doubled{}));
using OfTracer = Tracer<double> (*)(Tracer<double>);
using PointerFunction = decltype(jit(OfTracer{}));

/// All functions of a plug-in that scales by `factor`.
struct Interface {
  double factor;
  double (*lambda)(double x);
  double (*pointer)(double x);
  double (*slope)(double x);
  double (*structure)(double x);
  double (*host)(double x);
  double (*constant)(double x);
  double (*caller)(const DoubledFunction& f, double x);
  Graph (*graph)();
  PointerFunction (*wrapped)(OfTracer f);
};

}  // namespace calque::plugins
