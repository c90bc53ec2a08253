// ADBench's LSTM and its gradient; the model is in adbench/lstm.h.
//   adbench_lstm INPUT [--output FILE] [--repeat N]
#include <calque/calque.h>

#include "adbench/lstm.h"
#include "adbench/program.h"

namespace cq = calque;

adbench::Report run(const adbench::Options& options) {
  const auto p = adbench::lstm::read(options.input);
  auto objective = cq::jit(adbench::lstm::kLoss, {.name = "lstm"});
  auto gradient = cq::jit(cq::value_and_grad(adbench::lstm::kLoss), {.name = "lstm_gradient"});

  const auto value = adbench::timed([&] { return objective(p.parameters, p.start, p.sequence); }, options.repeat);
  const auto both = adbench::timed([&] { return gradient(p.parameters, p.start, p.sequence); }, options.repeat);
  adbench::Writer out(options.output);
  out.line(value.result.item());
  out.lines(both.result.second.layers);
  out.lines(both.result.second.extra);
  out.close();
  return {value, both};
}

int main(int argc, char** argv) { return adbench::main(argc, argv, "adbench_lstm", run); }
