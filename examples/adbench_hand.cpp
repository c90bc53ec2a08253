// ADBench's HAND: all errors and their Jacobian; the model is in adbench/hand.h.
//   adbench_hand INPUT [--output FILE] [--repeat N]
// The hand's bones and vertices are read from the directory `model` next to the input.
#include <calque/calque.h>

#include "adbench/hand.h"
#include "adbench/program.h"

namespace cq = calque;

/// Results have the points along the last dimension; in the file the coordinates of a point are consecutive.
template <class E, class J>
adbench::Report write(const adbench::Options& options, const E& errors, const J& jacobian) {
  const auto& j = jacobian.result;
  adbench::Writer out(options.output);
  out.line(j.shape()[1] * j.shape()[2], j.shape()[0]);
  out.lines(transpose(errors.result));
  out.lines(transpose(j, {0, 2, 1}));
  out.close();
  return {errors, jacobian};
}

adbench::Report run(const adbench::Options& options) {
  const auto p = adbench::hand::read(options.input);
  if (p.complicated) {
    auto f = cq::jit(adbench::hand::complicated_errors(p), {.name = "hand"});
    auto df = cq::jit(adbench::hand::complicated_jacobian(p), {.name = "hand_jacobian"});
    return write(options, adbench::timed([&] { return f(p.pose, p.points, p.barycentric); }, options.repeat),
                 adbench::timed([&] { return df(p.pose, p.points, p.barycentric); }, options.repeat));
  }
  auto f = cq::jit(adbench::hand::simple_errors(p), {.name = "hand"});
  auto df = cq::jit(adbench::hand::simple_jacobian(p), {.name = "hand_jacobian"});
  return write(options, adbench::timed([&] { return f(p.pose, p.points); }, options.repeat),
               adbench::timed([&] { return df(p.pose, p.points); }, options.repeat));
}

int main(int argc, char** argv) { return adbench::main(argc, argv, "adbench_hand", run); }
