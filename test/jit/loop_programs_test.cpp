// Random programs of loops three deep that write elements, rows and columns of three arrays, exchange them, copy them
// and read them before and after: compiled against the reference evaluator, some with donated arguments.
#include <functional>

#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/ir/interpreter.h"

#include "support/random/random.h"
#include "support/sanitizers.h"

namespace calque::test {
namespace {

using D = Array<double>;
using T = Tracer<double>;
using I = Tracer<int32_t>;
using State = std::tuple<T, T, T>;
constexpr int kExtent = 5;

/// Writes the statements of a body with the loop counter `i`.
class Program {
 public:
  Program(uint64_t seed, int statements, I i) : rng_(seed), left_(statements), i_(std::move(i)) {}

  State body(State s, int depth) {
    for (int64_t n = rng_.between(1, 4); n > 0 && left_ > 0; --n, --left_) s = statement(std::move(s), depth);
    return s;
  }

 private:
  static T& part(State& s, int64_t k) { return k == 0 ? std::get<0>(s) : k == 1 ? std::get<1>(s) : std::get<2>(s); }
  int64_t pick(int64_t n) { return rng_.between(0, n - 1); }
  T any(State& s) { return part(s, pick(3)); }
  I index() {
    switch (pick(4)) {
      case 0:
        return I(static_cast<int32_t>(pick(kExtent)));
      case 1:
        return (i_ * 3 + 1) % kExtent;
      default:
        return (i_ + static_cast<int32_t>(pick(4))) % kExtent;
    }
  }
  T scalar(State& s) {
    const T a = any(s);
    switch (pick(5)) {
      case 0:
        return a.at(index(), index());
      case 1:
        return sum(a[index()]) * 0.25;
      case 2:
        return sum(a) * 0.0625;
      case 3:
        return amax(a.at(all, index()));
      default:
        return cast<double>(index()) * 0.5;
    }
  }
  T row(State& s) {
    const T a = any(s);
    switch (pick(3)) {
      case 0:
        return a[index()] * 0.5;
      case 1:
        return a.at(all, index()) + 1.0;
      default:
        return flip(a[index()], 0);
    }
  }
  std::function<State(I, State)> inner(int statements, int depth) {
    const uint64_t seed = rng_.next();
    return [=](I i, State s) { return Program(seed, statements, i).body(std::move(s), depth - 1); };
  }
  State branch(State s, int depth) {
    const auto one = inner(3, depth), two = inner(3, depth);
    const auto larger = scalar(s) > scalar(s);
    const I zero(0);
    return cond(larger, [=](State q) { return one(zero, q); }, [=](State q) { return two(zero, q); }, s);
  }

  State statement(State s, int depth) {
    const int64_t k = pick(3);
    const T a = part(s, k);
    T next = a;
    switch (pick(depth > 0 ? 13 : 9)) {
      case 0:
        next = a.set(index(), index(), scalar(s));
        break;
      case 1:
        next = a.add(index(), index(), scalar(s) * 0.5);
        break;
      case 2:
        next = a.set(index(), row(s));
        break;
      case 3:
        next = a.add(range(1, -1), index(), scalar(s) * 0.25);
        break;
      case 4:
        next = a.set(index(), range(1, 4), row(s).at(range(0, 3)));
        break;
      case 5:
        std::swap(std::get<0>(s), std::get<1>(s));
        return s;
      case 6:
        next = any(s);
        break;
      case 7:
        next = any(s) * 0.5 + a * 0.25;
        break;
      case 8: {  // exchanged rows
        const I i = index(), j = index();
        const T first = a[i], second = a[j];
        next = a.set(i, second).set(j, first);
        break;
      }
      case 9:
      case 10: {
        const auto first = static_cast<int32_t>(pick(2)), count = static_cast<int32_t>(pick(4));
        return fori_loop(first, first + count, inner(4, depth), s);
      }
      case 11: {
        const I first = index();
        return fori_loop(first, first + static_cast<int32_t>(pick(3)), inner(4, depth), s);
      }
      default:
        return branch(std::move(s), depth);
    }
    part(s, k) = next;
    return s;
  }

  Rng rng_;
  int left_;
  I i_;
};

TEST(LoopPrograms, EqualTheReference) {
  const uint64_t programs = kAddressSanitizer || kThreadSanitizer ? 15 : 150;
  const auto initial = [](double by) { return reshape(D::arange(kExtent * kExtent), {kExtent, kExtent}) * 0.25 + by; };
  for (uint64_t seed = 0; seed < programs; ++seed) {
    const auto outer = [seed](I i, State s) { return Program(seed, 10, i).body(std::move(s), 2); };
    const auto f = jit([outer](T a, T b, T c) { return fori_loop(0, 4, outer, State{a, b, c}); },
                       {.donate = seed % 2 == 0 ? std::vector<int>{} : std::vector<int>{0, 1}});
    D a = initial(1), b = initial(-2), c = initial(0.5);
    const Graph g = f.trace(a, b, c);
    const std::vector<AnyArray> want = Interpreter().run(g, {a, b, c});
    const std::tuple<D, D, D> got = f(initial(1), initial(-2), initial(0.5));
    const bool equal = allclose(std::get<0>(got), want[0].as<double>(), 1e-9, 1e-9) &&
                       allclose(std::get<1>(got), want[1].as<double>(), 1e-9, 1e-9) &&
                       allclose(std::get<2>(got), want[2].as<double>(), 1e-9, 1e-9);
    ASSERT_TRUE(equal) << "program " << seed << "\n" << g;
  }
}

}  // namespace
}  // namespace calque::test
