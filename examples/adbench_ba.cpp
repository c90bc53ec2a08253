// ADBench's BA: all residuals and their sparse Jacobian; the model is in adbench/ba.h.
//   adbench_ba INPUT [--output FILE] [--repeat N]
#include <algorithm>
#include <cstdint>
#include <string>

#include <calque/calque.h>

#include "adbench/ba.h"
#include "adbench/program.h"

namespace cq = calque;

/// The sizes, the first 100 residuals and 50 weight errors, and the entries of the first 100 rows.
template <class Errors, class Jacobian>
void write(const std::string& path, const adbench::ba::Problem& problem, const Errors& errors,
           const Jacobian& jacobian) {
  constexpr int64_t kRows = 100;
  const auto& [residuals, weight_errors] = errors;
  const auto& [rows, weight_rows] = jacobian;
  const int64_t n = problem.n, m = problem.m, p = problem.p, first_weight = 11 * n + 3 * m;
  adbench::Writer out(path);
  out.line(3 * p, first_weight + p, rows.size() + weight_rows.size());
  out.lines(residuals.reshape({-1}), kRows);
  out.lines(weight_errors, kRows / 2);
  auto entry = rows.host().begin();
  for (int64_t row = 0; row < std::min(kRows, 2 * p); ++row) {
    const int64_t seen = row / 2, camera = 11 * (seen % n), point = 11 * n + 3 * (seen % m);
    for (int64_t i = 0; i < 11; ++i) out.line(row, camera + i, *entry++);
    for (int64_t i = 0; i < 3; ++i) out.line(row, point + i, *entry++);
    out.line(row, first_weight + seen, *entry++);
  }
  for (int64_t seen = 0; seen < std::min(kRows - 2 * p, p); ++seen) {
    out.line(2 * p + seen, first_weight + seen, weight_rows(seen));
  }
  out.close();
}

adbench::Report run(const adbench::Options& options) {
  const auto p = adbench::ba::read(options.input);
  auto f = cq::jit(adbench::ba::errors(p), {.name = "ba"});
  auto df = cq::jit(adbench::ba::jacobian(p), {.name = "ba_jacobian"});

  const auto value = adbench::timed([&] { return f(p.cameras, p.points, p.weights, p.features); }, options.repeat);
  const auto slope = adbench::timed([&] { return df(p.cameras, p.points, p.weights, p.features); }, options.repeat);
  write(options.output, p, value.result, slope.result);
  return {value, slope};
}

int main(int argc, char** argv) { return adbench::main(argc, argv, "adbench_ba", run); }
