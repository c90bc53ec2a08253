// Random programs of loops three deep that write elements, rows, columns and parts of three arrays, exchange them, copy
// them and read them before and after, in loops and outside: compiled against the reference evaluator, some with
// donated arguments.
#include <cstdlib>
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

/// Writes the statements of a body with the loop counter `i`.
class Program {
 public:
  Program(uint64_t seed, int extent, int statements, I i)
      : rng_(seed), extent_(extent), left_(statements), i_(std::move(i)) {}

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
        return I(static_cast<int32_t>(pick(extent_)));
      case 1:
        return (i_ * 3 + 1) % extent_;
      default:
        return (i_ + static_cast<int32_t>(pick(4))) % extent_;
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
    const int extent = extent_;
    return [=](I i, State s) { return Program(seed, extent, statements, i).body(std::move(s), depth - 1); };
  }
  State branch(State s, int depth) {
    const auto one = inner(3, depth), two = inner(3, depth), three = inner(3, depth);
    const auto larger = scalar(s) > scalar(s);
    const I zero(0), which = index();
    if (pick(3) == 0)
      return switch_(which,
                     std::tuple{[=](State q) { return one(zero, q); }, [=](State q) { return two(zero, q); },
                                [=](State q) { return three(zero, q); }},
                     s);
    return cond(larger, [=](State q) { return one(zero, q); }, [=](State q) { return two(zero, q); }, s);
  }

  /// Updates by C++ integers.
  T chain(State& s, T a) {
    const int64_t length = pick(12) == 0 ? 18 : 1 + pick(4);
    for (int64_t n = 0; n < length; ++n) {
      const int64_t i = pick(extent_), j = pick(extent_);
      const bool of_itself = pick(2) == 0;
      switch (pick(6)) {
        case 0:
          a = a.set(i, all, of_itself ? a[j] * 0.5 : row(s));
          break;
        case 1:
          a = a.set(i, j, of_itself ? a.at(j, i) + 1.0 : scalar(s));
          break;
        case 2:
          a = a.add(all, j, of_itself ? a[i] * 0.25 : row(s));
          break;
        case 3:
          a = a.add(i, range(1, 4), of_itself ? sum(a[j]) * 0.125 : scalar(s));
          break;
        case 4:
          a = block(s, a);
          break;
        default:
          a = a.set(i, range(0, extent_, 2), scalar(s));
          break;
      }
    }
    return a;
  }
  /// Most of the array is written, of the same elements, of others or of a product.
  T block(State& s, const T& a) {
    const auto rest = range(pick(2), none), columns = range(0, extent_ - pick(2));
    const T old = a.at(rest, columns), other = any(s).at(rest, columns);
    switch (pick(4)) {
      case 0:
        return a.set(rest, columns, old * 0.5 + 0.25 * other);
      case 1:
        return a.set(rest, columns, old * 0.5 + 0.125 * flip(old, 0));
      case 2: {
        const T left = other.at(all, range(0, 2)), bounded = left / (abs(left) + 1.0);
        return a.set(rest, columns, old * 0.5 - 0.25 * matmul(bounded, old.at(range(0, 2), all)));
      }
      default:
        return a.add(rest, columns, 0.25 * other + 0.0625 * sum(old, 0));
    }
  }
  T strided(State& s, const T& a) {
    const int64_t step = pick(2) == 0 ? 2 : 3;
    switch (pick(4)) {
      case 0:
        return a.set(index(), range(1, extent_, step), scalar(s));
      case 1:
        return a.add(range(0, -1, step), index(), scalar(s) * 0.25);
      case 2:
        return a.set(index(), range(none, none, -step), row(s).at(range(0, extent_, step)));
      default:
        return a.add(index(), newaxis, range(-2, none, -step), scalar(s) * 0.5);
    }
  }

  void exchange(State& s) {
    auto& [a, b, c] = s;
    switch (pick(4)) {
      case 0:
        s = State{b, c, a};
        return;
      case 1:
        s = State{c, a, b};
        return;
      case 2:
        return std::swap(b, c);
      default:
        return std::swap(a, b);
    }
  }

  State statement(State s, int depth) {
    const int64_t k = pick(3);
    const T a = part(s, k);
    T next = a;
    switch (pick(depth > 0 ? 17 : 13)) {
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
        exchange(s);
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
        next = chain(s, a);
        break;
      case 10:
        next = strided(s, a);
        break;
      case 11:
        next = block(s, a);
        break;
      case 12: {  // histories: the last value is computed of all, and the first is dropped
        const bool of_others = pick(3) == 0;
        const auto [first, second, third] = s;
        const T sum = (of_others ? flip(first, 0) : first) * 0.5 + second * 0.25;
        if (pick(2) == 0) {
          std::get<0>(s) = second;
          std::get<1>(s) = sum;
        } else {
          s = State{second, third, sum - third * 0.125};
        }
        return s;
      }
      case 13:
      case 14: {
        const auto first = static_cast<int32_t>(pick(2)), count = static_cast<int32_t>(pick(4));
        return fori_loop(first, first + count, inner(4, depth), s);
      }
      case 15: {
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
  int extent_;
  int left_;
  I i_;
};

TEST(LoopPrograms, EqualTheReference) {
  const char* const many = std::getenv("CALQUE_TEST_LOOP_PROGRAMS");
  const uint64_t programs = many != nullptr                         ? std::strtoull(many, nullptr, 10)
                            : kAddressSanitizer || kThreadSanitizer ? 15
                                                                    : 150;
  const char* const from = std::getenv("CALQUE_TEST_FIRST_SEED");
  const uint64_t first = from != nullptr ? std::strtoull(from, nullptr, 10) : 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const int extent = seed % 3 == 0 ? 16 : 5;
    const auto initial = [extent](double by) {
      return reshape(D::arange(int64_t{extent} * extent), {extent, extent}) * (6.25 / (extent * extent)) + by;
    };
    const auto program = [extent](uint64_t of, int statements, int depth, const I& i, State s) {
      return Program(of, extent, statements, i).body(std::move(s), depth);
    };
    const auto outer = [=](I i, State s) { return program(seed, 10, 2, i, std::move(s)); };
    const auto f = jit(
        [=](T a, T b, T c) {
          const I zero(0);
          State s{a, b, c};
          if (seed % 4 != 0) s = program(seed + 1'000'000, 4, 0, zero, s);
          if (seed % 8 != 7) s = fori_loop(0, 4, outer, s);
          if (seed % 4 > 1) s = program(seed + 2'000'000, 4, 0, zero, s);
          return s;
        },
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
