// ADBench's GMM and its gradient; the model is in adbench/gmm.h.
//   adbench_gmm INPUT [--output FILE] [--repeat N] [--replicate]
// --replicate repeats the file's single point as many times as the file declares points.
#include <calque/calque.h>

#include "adbench/gmm.h"
#include "adbench/program.h"

namespace cq = calque;

adbench::Report run(const adbench::Options& options) {
  const auto p = adbench::gmm::read(options.input, options.replicate);
  const auto f = adbench::gmm::log_likelihood(p.prior);
  auto objective = cq::jit(f, {.name = "gmm"});
  auto gradient = cq::jit(cq::value_and_grad(f), {.name = "gmm_gradient"});

  const auto value = adbench::timed([&] { return objective(p.mixture, p.points); }, options.repeat);
  const auto both = adbench::timed([&] { return gradient(p.mixture, p.points); }, options.repeat);
  const auto& slope = both.result.second;
  adbench::Writer out(options.output);
  out.line(value.result.item());
  out.lines(slope.alpha);
  out.lines(slope.means);
  out.lines(slope.factors);
  out.close();
  return {value, both};
}

int main(int argc, char** argv) { return adbench::main(argc, argv, "adbench_gmm", run, /*replicates=*/true); }
