#pragma once
// Part 1: the program of the README, its graph, plan and assembly.
#include <cmath>
#include <iostream>

#include <calque/calque.h>

#include "tour/show.h"

namespace tour {
namespace cq = calque;

/// True if the result equals that of plain C++.
inline bool program() {
  headline("1. A lambda, its graph, its plan, its machine code");

  auto f = cq::jit([](auto x, auto w) { return tanh(matmul(x, w)); });
  const cq::Array<float> x = {{1, 2, 3}, {4, 5, 6}};
  const cq::Array<float> w = {{0.1, -0.2}, {0.3, 0.4}, {-0.5, 0.6}};
  const cq::Array<float> y = f(x, w);

  show("f(x, w)", y);
  show("the graph", f.trace(x, w));
  show("the plan", f.lower(x, w).plan());
  show("the machine code", f.lower(x, w).assembly(), 40);

  bool right = true;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      float dot = 0;
      for (int k = 0; k < 3; ++k) dot += x(i, k) * w(k, j);
      right &= std::abs(y(i, j) - std::tanh(dot)) < 1e-6f;
    }
  }
  return right;
}

}  // namespace tour
