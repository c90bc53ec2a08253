#include "adbench/lstm.h"

#include <memory>

#include "adbench/adbench.h"
#include "adbench/declare.h"

namespace adbench {
namespace {

void declare(int64_t l, int64_t c, int64_t b) {
  const auto x = std::make_shared<lstm::Problem>();
  x->parameters = {random_array({l, 2, 4, b}, 0, 1, 1), random_array({3, b}, 0, 1, 2)};
  x->sequence = random_array({c, b}, 0, 1, 3);
  std::vector<double> start;
  for (int64_t i = 0; i < l; ++i) {
    auto hidden = random_array({b}, 0, 1, 4 + uint64_t(i)), cell = random_array({b}, 0, 1, 100 + uint64_t(i));
    x->start.push_back({hidden, cell});
    for (const auto& part : {hidden, cell}) start.insert(start.end(), part.host().begin(), part.host().end());
  }
  const auto problem = [=] {
    return LstmProblem{l,
                       c,
                       b,
                       x->parameters.layers.host().data(),
                       x->parameters.extra.host().data(),
                       start.data(),
                       x->sequence.host().data()};
  };

  auto objective = cq::jit(lstm::kLoss);
  auto gradient = cq::jit(cq::value_and_grad(lstm::kLoss));
  const std::string size = "l" + std::to_string(l) + "_c" + std::to_string(c);
  const bench::Task value{"lstm", size}, slope{"lstm_gradient", size};

  add_ours(value, [=] { return objective(x->parameters, x->start, x->sequence); });
  add_rival(value, "c++", {objective(x->parameters, x->start, x->sequence).item()},
            [=](double* out) { *out = lstm_plain(problem()); });

  const auto [v, g] = gradient(x->parameters, x->start, x->sequence);
  std::vector<double> derivatives{v.item()};
  for (const auto& part : {g.layers, g.extra})
    derivatives.insert(derivatives.end(), part.host().begin(), part.host().end());
  add_ours(slope, [=] { return gradient(x->parameters, x->start, x->sequence); });
  add_rival(slope, "c++", derivatives, [=](double* out) { *out = lstm_gradient_plain(problem(), out + 1); });
}

}  // namespace

void declare_lstm() {
  declare(2, 1024, 14);
  declare(4, 1024, 14);
}

}  // namespace adbench
