// Collective operations among processes, which are threads here: values and derivatives of the whole.
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "collectives/thread_ranks.h"

namespace calque::test {
namespace {

using D = Array<double>;
using Group = std::shared_ptr<const ProcessGroup>;

/// One operation and whether its operand has a row for each rank.
struct Operation {
  Collective kind;
  ReduceOp op = ReduceOp::sum;
  bool has_rows = false;
  bool is_linear = true;
};

constexpr Operation kOperations[] = {
    {Collective::all_reduce},
    {Collective::all_reduce, ReduceOp::prod, false, false},
    {Collective::all_reduce, ReduceOp::max, false, false},
    {Collective::all_reduce, ReduceOp::min, false, false},
    {Collective::reduce},
    {Collective::reduce, ReduceOp::max, false, false},
    {Collective::broadcast},
    {Collective::all_gather},
    {Collective::gather},
    {Collective::scatter, ReduceOp::sum, true},
    {Collective::reduce_scatter, ReduceOp::sum, true},
    {Collective::reduce_scatter, ReduceOp::prod, true, false},
    {Collective::all_to_all, ReduceOp::sum, true},
    {Collective::send_receive},
    {Collective::scan},
    {Collective::scan, ReduceOp::prod, false, false},
};

std::string name_of(const Operation& o) { return std::string(to_string(o.kind)) + " " + std::string(to_string(o.op)); }

template <class X>
X apply(const Group& group, const Operation& o, const X& x) {
  const bool is_ring = o.kind == Collective::send_receive;
  const bool has_root = o.kind == Collective::reduce || o.kind == Collective::broadcast ||
                        o.kind == Collective::gather || o.kind == Collective::scatter;
  const int64_t n = group->size(), r = group->rank();
  // A chain: nothing comes to the first rank.
  return communicate(group, o.kind, x, o.op,
                     is_ring    ? (r + 1 < n ? r + 1 : -1)
                     : has_root ? n - 1
                                : -1,
                     is_ring ? r - 1 : -1);
}

D operand_of(const Operation& o, int64_t ranks, int64_t rank, double shift = 0) {
  const D row = sin(D::arange(5) * 1.7 + static_cast<double>(rank) * 0.9 + shift) + 1.5;
  if (!o.has_rows) return row;
  D rows = D::zeros({ranks, 5});
  for (int64_t i = 0; i < ranks; ++i) rows = rows.set(i, row + static_cast<double>(i) * 0.31);
  return rows;
}

TEST(Processes, CompiledAsAtOnce) {
  for (const int64_t ranks : {1, 2, 3, 5}) {
    for (const Operation& o : kOperations) {
      const auto differs = on_ranks(ranks, [&](const Group& group) {
        const D x = operand_of(o, ranks, group->rank());
        const D at_once = apply(group, o, x);
        const D compiled = jit([&](auto v) { return apply(group, o, v); })(x);
        return static_cast<int>(!array_equal(at_once, compiled));
      });
      for (const int d : differs) EXPECT_EQ(d, 0) << name_of(o) << " of " << ranks;
    }
  }
}

/// sum over ranks of <ct, J dx> equals that of <J^T ct, dx>, and J dx equals a difference.
// Sums, and what moves elements, are of pairs of real numbers; products of complex numbers are evaluated.
TEST(Processes, ComplexNumbersAreCommunicatedAsPairs) {
  for (const Operation& o : kOperations) {
    if (o.op == ReduceOp::max || o.op == ReduceOp::min) continue;
    const auto right = on_ranks(3, [&](const Group& group) {
      const D x = operand_of(o, 3, group->rank());
      const auto z = as_complex(x, cos(x));
      const auto f = jit([&](auto v) { return apply(group, o, v + v); });
      std::ostringstream plan;
      plan << f.lower(z).plan();
      const bool is_evaluated = plan.str().find("host_call") != std::string::npos;
      return static_cast<int>(is_evaluated == (o.op == ReduceOp::prod) && array_equal(apply(group, o, z + z), f(z)));
    });
    for (const int r : right) EXPECT_EQ(r, 1) << name_of(o);
  }
}

TEST(Processes, DerivativesAreThoseOfTheWhole) {
  constexpr double kStep = 1e-6;
  for (const int64_t ranks : {1, 2, 3}) {
    for (const Operation& o : kOperations) {
      struct Products {
        double forward = 0, backward = 0, error = 0;
      };
      const auto products = on_ranks(ranks, [&](const Group& group) {
        const auto f = [&](auto v) { return apply(group, o, v); };
        const D x = operand_of(o, ranks, group->rank()), dx = operand_of(o, ranks, group->rank(), 2.0);
        const auto [y, dy] = jvp(f, std::tuple{x}, std::tuple{dx});
        const D ct = cos(y * 3.0 + static_cast<double>(group->rank()));
        const D back = std::get<0>(vjp(f, x).second(ct));
        const D difference = (f(D(x + dx * kStep)) - f(D(x - dx * kStep))) / (2 * kStep);
        return Products{sum(ct * dy).item(), sum(back * dx).item(), max(abs(difference - dy)).item()};
      });
      double forward = 0, backward = 0;
      for (const Products& p : products) {
        forward += p.forward;
        backward += p.backward;
        EXPECT_LT(p.error, 1e-7) << name_of(o) << " of " << ranks;
      }
      EXPECT_NEAR(forward, backward, 1e-12 * (1 + std::abs(forward))) << name_of(o) << " of " << ranks;
    }
  }
}

TEST(Processes, BatchesAreOneMessage) {
  for (const int64_t ranks : {1, 3}) {
    for (const Operation& o : kOperations) {
      const auto differs = on_ranks(ranks, [&](const Group& group) {
        const auto f = [&](auto v) { return apply(group, o, v); };
        std::vector<D> examples, each;
        for (int64_t i = 0; i < 4; ++i) {
          examples.push_back(operand_of(o, ranks, group->rank(), static_cast<double>(i)));
          each.push_back(f(examples.back()));
        }
        const auto g = vmap(f);
        const D together = g(stack(examples, 0));
        const size_t calls = [&] {
          std::ostringstream text;
          text << jit(g).trace(stack(examples, 0));
          const std::string all = text.str(), name(to_string(o.kind));
          size_t count = 0;
          for (size_t at = all.find(name + "["); at != std::string::npos; at = all.find(name + "[", at + 1)) ++count;
          return count;
        }();
        return static_cast<int>(!array_equal(together, stack(each, 0))) + (calls == 1 ? 0 : 2);
      });
      for (const int d : differs) EXPECT_EQ(d, 0) << name_of(o) << " of " << ranks;
    }
  }
}

/// The results that only the root uses must not leave others waiting.
TEST(Processes, GradientsWhereOneRankUsesTheResult) {
  const auto gradients = on_ranks(3, [&](const Group& group) {
    const auto f = [&](auto v) {
      const auto total = communicate(group, Collective::reduce, v, ReduceOp::sum, 0);
      return group->rank() == 0 ? sum(square(total)) : 0.0 * sum(v);
    };
    return grad(f)(D{1, 2} * static_cast<double>(group->rank() + 1));
  });
  for (const D& g : gradients) EXPECT_EQ(unlike(g, (D{12, 24})), "");
}

TEST(Processes, GradientsWhereOneRankUsesTheResultOfALoop) {
  const auto gradients = on_ranks(3, [&](const Group& group) {
    const auto f = [&](auto v) {
      const auto step = [&](auto, auto c) { return communicate(group, Collective::all_reduce, c * v); };
      const auto total = fori_loop(0, 2, step, v);
      return group->rank() == 0 ? sum(total) : 0.0 * sum(v);
    };
    return grad(f)(D{1, 2} * static_cast<double>(group->rank() + 1));
  });
  // (sum_r v_r) sum_r v_r^2 at rank 0: the derivative by v_r is sum_r v_r^2 + 2 v_r sum_r v_r.
  EXPECT_EQ(unlike(gradients[0], (D{26, 104})), "");
  EXPECT_EQ(unlike(gradients[1], (D{38, 152})), "");
  EXPECT_EQ(unlike(gradients[2], (D{50, 200})), "");
}

TEST(Processes, SecondDerivatives) {
  const auto hessians = on_ranks(2, [&](const Group& group) {
    const auto f = [&](auto v) {
      return prod(communicate(group, Collective::all_reduce, square(v), ReduceOp::sum)) * 0.5;
    };
    return hessian(f)(D{1.0 + static_cast<double>(group->rank()), 2});
  });
  // Both ranks return 1/2 s t, s = 1 + 4, t = 4 + 4, so that each sees the derivatives of s t.
  // Forward mode moves the arguments of all ranks at once: a column is the sum over ranks.
  EXPECT_TRUE(allclose(hessians[0], D{{16, 16}, {24, 10}}));
  EXPECT_TRUE(allclose(hessians[1], D{{16, 32}, {24, 10}}));
}

TEST(Processes, RanksAndRowsAreChecked) {
  const auto messages = on_ranks(1, [&](const Group& group) {
    std::string all;
    const auto tried = [&](auto f) {
      try {
        f();
      } catch (const Error& e) {
        all += std::string(e.what()) + "\n";
      }
    };
    const D x{1, 2};
    tried([&] { communicate(group, Collective::broadcast, x, ReduceOp::sum, 1); });
    tried([&] { jit([&](auto v) { return communicate(group, Collective::scatter, v, ReduceOp::sum, 0); })(x); });
    tried([&] { communicate(group, Collective::all_reduce, x > 0.0); });
    tried([&] { communicate(group, Collective::all_reduce, x, ReduceOp::any); });
    tried([&] { communicate(group, Collective::scan, as_complex(x, x), ReduceOp::max); });
    return all;
  });
  for (const char* part :
       {"the root is 1, and the ranks of threads are 0 to 0", "needs [1, ...], a row for each of the",
        "sum needs numbers, got bool[2]; use all or any, or cast it", "any needs bool, got f64[2]",
        "max needs an order, got c128[2]"})
    EXPECT_NE(messages[0].find(part), std::string::npos) << messages[0];
}

}  // namespace
}  // namespace calque::test
