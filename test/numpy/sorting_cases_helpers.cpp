#include "calque/detail/sorting.h"

#include "numpy/vocabulary_cases.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using detail::Operand;

std::vector<Operand> operands(In in) { return {in.begin(), in.end()}; }

}  // namespace

std::vector<VocabularyCase> sorting_cases() {
  using enum quantile_method;
  const Location at;
  const Input matrix{{4, 6}}, small{{3, 4}}, vector{{7}}, cube{{2, 3, 4}};
  const Input fractions{{2}, 0.05, 0.95}, ids = indices_in({7}, -1, 5);
  std::vector<VocabularyCase> all;
  const auto add = [&](std::string name, std::vector<Input> inputs,
                       std::function<Handles(In)> body) -> VocabularyCase& {
    all.push_back({std::move(name), std::move(inputs), std::move(body)});
    return all.back();
  };
#define CALQUE_CASE(name, inputs, call) add(name, inputs, [=](In x) -> Handles { return call; })
#define CALQUE_IN(...) (std::vector<Input>{__VA_ARGS__})
  // With NaN where x is small.
#define CALQUE_HOLES \
  ops::where(ops::less(x[0], detail::literal_operand(-1.0), at), detail::literal_operand(std::nan("")), x[0], at)
  CALQUE_CASE("sort", CALQUE_IN(cube), (Handles{ops::sort(x[0], 1, false, at), ops::sort(x[0], -1, true, at)}));
  CALQUE_CASE("sort_with_nan", CALQUE_IN(matrix), {ops::nan_to_num(ops::sort(CALQUE_HOLES, 0, true, at), 0, 0, 0, at)});
  CALQUE_CASE("argsort", CALQUE_IN(cube), (Handles{ops::argsort(x[0], 1, true, at), ops::argsort(x[0], 2, false, at)}))
      .constant = true;
  CALQUE_CASE("sort_by", CALQUE_IN(small, small), ops::sort_by(operands(x), 1, 0, false, at));
  CALQUE_CASE("sort_by_two", CALQUE_IN(small, small, small), ops::sort_by(operands(x), 2, 1, true, at));
  CALQUE_CASE("lexsort", CALQUE_IN(small, small), {ops::lexsort(operands(x), 0, at)}).constant = true;
  CALQUE_CASE("partition", CALQUE_IN(matrix), {ops::partition(x[0], 2, 0, at)});
  CALQUE_CASE("argpartition", CALQUE_IN(matrix), {ops::argpartition(x[0], 2, 1, at)}).constant = true;
  CALQUE_CASE("top_k", CALQUE_IN(cube), {ops::top_k(x[0], 2, at)[0]});
  CALQUE_CASE("top_k_along", CALQUE_IN(cube), {ops::top_k_along(x[0], 2, 1, at)[0]});
  CALQUE_CASE("top_k_indices", CALQUE_IN(cube), {ops::top_k(x[0], 3, at)[1]}).constant = true;
  CALQUE_CASE("searchsorted", CALQUE_IN(vector, small),
              (Handles{ops::searchsorted(ops::sort(x[0], 0, false, at), x[1], side::left, at),
                       ops::searchsorted(ops::sort(x[0], 0, false, at), x[1], side::right, at)}))
      .constant = true;
  CALQUE_CASE("digitize", CALQUE_IN(small, vector),
              (Handles{ops::digitize(x[0], ops::sort(x[1], 0, true, at), true, at)}))
      .constant = true;
  CALQUE_CASE("medians", CALQUE_IN(matrix),
              (Handles{ops::median(x[0], Axes(0), true, at), ops::median(x[0], Axes(), false, at),
                       ops::nanmedian(CALQUE_HOLES, Axes(1), false, at)}));
  CALQUE_CASE("quantile", CALQUE_IN(matrix, fractions),
              (Handles{ops::quantile(x[0], x[1], Axes(0), linear, false, at),
                       ops::percentile(x[0], detail::literal_operand(30.0), Axes(), linear, true, at)}))
      .half_error = 16;
  CALQUE_CASE("quantile_methods", CALQUE_IN(matrix),
              (Handles{ops::quantile(x[0], detail::literal_operand(0.3), Axes(1), lower, false, at),
                       ops::quantile(x[0], detail::literal_operand(0.3), Axes(1), higher, false, at),
                       ops::quantile(x[0], detail::literal_operand(0.3), Axes(1), midpoint, false, at),
                       ops::quantile(x[0], detail::literal_operand(0.3), Axes(1), nearest, false, at),
                       ops::quantile(x[0], detail::literal_operand(0.3), Axes(1), inverted_cdf, false, at)}));
  CALQUE_CASE("nanquantile", CALQUE_IN(matrix),
              (Handles{ops::nanquantile(CALQUE_HOLES, detail::literal_operand(0.4), Axes(1), linear, false, at),
                       ops::nanpercentile(CALQUE_HOLES, detail::literal_operand(80), Axes(), linear, false, at)}))
      .half_error = 16;
  CALQUE_CASE("unique", CALQUE_IN(small), {ops::unique(x[0], 9, nullptr, at)});
  CALQUE_CASE("unique_all", CALQUE_IN(ids), ops::unique_all(x[0], 4, nullptr, at)).constant = true;
  CALQUE_CASE("unique_slices", CALQUE_IN(indices_in({2, 5}, 0, 2)), ops::unique_all_of(x[0], 4, nullptr, 1, true, at))
      .constant = true;
  CALQUE_CASE("unique_wide_slices", CALQUE_IN(Input{{3, 7}}), {ops::unique_of(x[0], 3, nullptr, 0, true, at)});
  CALQUE_CASE("intersect1d_all", CALQUE_IN(ids, indices_in({4}, 2, 9)),
              ops::intersect1d_all(x[0], x[1], 3, nullptr, at))
      .constant = true;
  CALQUE_CASE("sets", CALQUE_IN(ids, indices_in({4}, 2, 9)),
              (Handles{ops::union1d(x[0], x[1], 8, nullptr, at), ops::intersect1d(x[0], x[1], 3, nullptr, at),
                       ops::setdiff1d(x[0], x[1], 5, nullptr, at), ops::setxor1d(x[0], x[1], 5, nullptr, at)}))
      .constant = true;
  CALQUE_CASE("bincount", CALQUE_IN(ids, vector),
              (Handles{ops::bincount(x[0], std::vector<Operand>{x[1]}.data(), 4, at)}));
  CALQUE_CASE("histogram", CALQUE_IN(matrix),
              (Handles{ops::histogram(x[0], {5, -1.0, 1.5}, nullptr, at)[0],
                       ops::histogram(x[0], {5, std::nullopt, std::nullopt}, nullptr, at)[0],
                       ops::histogram2d(ops::ravel(x[0], at), ops::ravel(x[0], at), {2, -1.0, 1.0}, {3, -2.0, 2.0},
                                        nullptr, at)[0]}))
      .constant = true;
  CALQUE_CASE("histogram_densities", CALQUE_IN(matrix, Input({{4, 6}, 0.5, 2})),
              (Handles{ops::histogram_density(x[0], {5, -2.0, 1.5}, std::vector<Operand>{x[1]}.data(), at)[0]}));
  CALQUE_CASE("histogramdd", CALQUE_IN(Input{{9, 3}}),
              (Handles{ops::histogramdd(x[0], std::vector<detail::Bins>{{3, -2.0, 2.0}}, nullptr, false, at)[0],
                       ops::histogramdd(x[0], std::vector<detail::Bins>{{2, {}, {}}}, nullptr, true, at)[0]}))
      .constant = true;
  CALQUE_CASE("histogram_edges", CALQUE_IN(matrix),
              {ops::histogram_bin_edges(x[0], {4, std::nullopt, std::nullopt}, at)})
      .constant = true;
#undef CALQUE_HOLES
#undef CALQUE_IN
#undef CALQUE_CASE
  return all;
}

}  // namespace calque::test
