#include "numpy/vocabulary_cases.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using detail::Operand;

std::vector<Operand> operands(In in) { return {in.begin(), in.end()}; }
detail::Handle positive(detail::Handle x) { return ops::greater(x, detail::literal_operand(0.0), {}); }

}  // namespace

std::vector<VocabularyCase> numpy_cases() {
  using enum pad_mode;
  const Location at;
  const Input matrix{{4, 6}}, small{{3, 4}}, vector{{7}}, cube{{2, 3, 4}};
  const std::vector<int64_t> counts{2, 0, 1, 3}, low{1, 3}, high{2, 0}, shifts{1, -2}, spots{1, 3, 3};
  const Shape to{3, 5}, grid{3, 4};
  std::vector<VocabularyCase> all = sorting_cases();
  const auto add = [&](std::string name, std::vector<Input> inputs,
                       std::function<Handles(In)> body) -> VocabularyCase& {
    all.push_back({std::move(name), std::move(inputs), std::move(body)});
    return all.back();
  };
#define CALQUE_CASE(name, inputs, call) add(name, inputs, [=](In x) -> Handles { return call; })
#define CALQUE_IN(...) (std::vector<Input>{__VA_ARGS__})
  // Rearranged.
  CALQUE_CASE("moveaxis", CALQUE_IN(cube), {ops::moveaxis(x[0], Axes({0, 2}), Axes({-1, 0}), at)});
  CALQUE_CASE("swapaxes", CALQUE_IN(cube), {ops::swapaxes(x[0], 0, -1, at)});
  CALQUE_CASE("rollaxis", CALQUE_IN(cube), {ops::rollaxis(x[0], 2, 0, at)});
  CALQUE_CASE("rot90", CALQUE_IN(cube), {ops::rot90(x[0], 3, 0, 2, at)});
  CALQUE_CASE("flips", CALQUE_IN(cube), (Handles{ops::fliplr(x[0], at), ops::flipud(x[0], at)}));
  CALQUE_CASE("atleast_3d", CALQUE_IN(vector), {ops::atleast_3d(x[0], at)});
  CALQUE_CASE("matrix_transpose", CALQUE_IN(cube), {ops::matrix_transpose(x[0], at)});
  CALQUE_CASE("resize", CALQUE_IN(vector), {ops::resize(x[0], to, at)});
  CALQUE_CASE("roll_flat", CALQUE_IN(small), {ops::roll_flat(x[0], 5, at)});
  CALQUE_CASE("roll_axes", CALQUE_IN(small), {ops::roll_axes(x[0], shifts, Axes({0, 1}), at)});
  CALQUE_CASE("roll_by", CALQUE_IN(small, indices_in({}, -9, 9)), {ops::roll_by(x[0], x[1], 1, at)});
  CALQUE_CASE("repeat_counts", CALQUE_IN(small), {ops::repeat_counts(x[0], counts, 1, at)});
  CALQUE_CASE("repeat_by", CALQUE_IN(small, indices_in({4}, 0, 3)), {ops::repeat_by(x[0], x[1], 6, 1, at)});
  const PadOptions pads{.stat_length = {{2, 3}}, .end_values = {{0.5, -1}}}, odd{.reflect_type = reflection::odd};
  for (const pad_mode how : {edge, reflect, symmetric, wrap, linear_ramp, maximum, mean, median, minimum}) {
    CALQUE_CASE("pad_" + std::to_string(static_cast<int>(how)), CALQUE_IN(small),
                {ops::pad_with(x[0], how, low, high, pads, at)});
  }
  CALQUE_CASE(
      "pad_odd", CALQUE_IN(small),
      (Handles{ops::pad_with(x[0], reflect, low, high, odd, at),
               ops::pad_with(x[0], symmetric, std::vector<int64_t>{4, 0}, std::vector<int64_t>{7, 9}, odd, at)}))
      .half_error = 64;
  // Joined.
  CALQUE_CASE("hstack", CALQUE_IN(small, small), {ops::hstack(operands(x), at)});
  CALQUE_CASE("vstack", CALQUE_IN(vector, vector), {ops::vstack(operands(x), at)});
  CALQUE_CASE("dstack", CALQUE_IN(small, small), {ops::dstack(operands(x), at)});
  CALQUE_CASE("column_stack", CALQUE_IN(vector, vector), {ops::column_stack(operands(x), at)});
  CALQUE_CASE("append", CALQUE_IN(small, vector), {ops::append(x[0], x[1], std::nullopt, at)});
  CALQUE_CASE("array_split", CALQUE_IN(matrix), ops::array_split(x[0], 4, 1, at));
  CALQUE_CASE("unstack", CALQUE_IN(small), ops::unstack(x[0], 1, at));
  CALQUE_CASE("broadcast_arrays", CALQUE_IN(Input{{3, 1}}, Input{{4}}), ops::broadcast_arrays(operands(x), at));
  CALQUE_CASE("meshgrid", CALQUE_IN(Input{{3}}, Input{{4}}), ops::meshgrid(operands(x), indexing::xy, false, at));
  CALQUE_CASE("insert", CALQUE_IN(small, Input{{3, 3}}), {ops::insert(x[0], spots, x[1], 1, at)});
  CALQUE_CASE("delete_", CALQUE_IN(small), {ops::delete_(x[0], spots, 1, at)});
  // Differences.
  CALQUE_CASE("diff", CALQUE_IN(matrix), {ops::diff(x[0], 2, 0, at)});
  CALQUE_CASE("diff_between", CALQUE_IN(matrix, Input{{4, 2}}, Input{{}}),
              {ops::diff_between(operands(x), true, 2, 1, at)});
  CALQUE_CASE("ediff1d_between", CALQUE_IN(small, Input{{2}}, Input{{}}),
              {ops::ediff1d_between(operands(x), true, at)});
  CALQUE_CASE("ediff1d", CALQUE_IN(small), {ops::ediff1d(x[0], at)});
  CALQUE_CASE("gradient", CALQUE_IN(matrix), {ops::gradient(x[0], 0.5, 0, 1, at)});
  CALQUE_CASE("gradient_order_2", CALQUE_IN(matrix), {ops::gradient(x[0], 0.5, 0, 2, at)});
  CALQUE_CASE("gradient_at", CALQUE_IN(matrix, Input{{6}}),
              {ops::gradient_at(x[0], ops::cumsum(ops::exp(x[1], at), 0, at), 1, 2, at)})
      .half_error = 60;
  CALQUE_CASE("gradients", CALQUE_IN(matrix), ops::gradients(x[0], std::vector<double>{0.5, 2}, Axes({1, 0}), 2, at));
  CALQUE_CASE("trapezoid", CALQUE_IN(matrix), {ops::trapezoid(x[0], 0.25, 0, at)});
  CALQUE_CASE("trapezoid_at", CALQUE_IN(matrix, Input{{6}}), {ops::trapezoid_at(x[0], x[1], 1, at)});
  CALQUE_CASE(
      "interp", CALQUE_IN(matrix, Input{{5}}, Input{{5}}),
      {ops::interp(x[0], ops::subtract(ops::cumsum(ops::exp(x[1], at), 0, at), detail::literal_operand(3.0), at), x[2],
                   std::nullopt, 0.5, at)})
      .half_error = 40;
  CALQUE_CASE("interp_extrapolated", CALQUE_IN(matrix, Input{{5}}, Input{{5}}),
              {ops::interp_extrapolated(
                  x[0], ops::subtract(ops::cumsum(ops::exp(x[1], at), 0, at), detail::literal_operand(1.5), at), x[2],
                  std::nullopt, 0.5, true, false, at)})
      .half_error = 64;
  CALQUE_CASE("unwrap", CALQUE_IN(Input({{5, 3}, -9, 9})), {ops::unwrap(x[0], 0, std::nullopt, 6.25, at)}).half_error =
      16;
  CALQUE_CASE("cumlogsumexp", CALQUE_IN(matrix), {ops::cumlogsumexp(x[0], 1, true, at)});
  CALQUE_CASE("cumulative", CALQUE_IN(small),
              (Handles{ops::cumsum_of(x[0], 1, true, at), ops::cumprod_of(x[0], std::nullopt, false, at),
                       ops::cummax_of(x[0], 0, true, at), ops::cummin_of(x[0], 0, false, at)}))
      .half_error = 16;
  CALQUE_CASE("cumulative_from_identity", CALQUE_IN(small),
              (Handles{ops::cumsum_from_identity(x[0], 1, true, at),
                       ops::cumprod_from_identity(x[0], std::nullopt, false, at)}))
      .half_error = 16;
  CALQUE_CASE("cumulative_extrema_from_identity", CALQUE_IN(indices_in({3, 4}, -9, 9)),
              (Handles{ops::cummax_from_identity(x[0], 0, true, at), ops::cummin_from_identity(x[0], 1, false, at)}))
      .constant = true;
  // Statistics.
  CALQUE_CASE("ptp", CALQUE_IN(matrix), {ops::ptp(x[0], Axes(0), true, at)});
  CALQUE_CASE("average", CALQUE_IN(matrix, Input({{6}, 0.5, 2})), {ops::average(x[0], x[1], Axes(1), false, at)});
  CALQUE_CASE("cov", CALQUE_IN(matrix, Input{{6}}), {ops::cov(operands(x), true, 1, at)});
  CALQUE_CASE("corrcoef", CALQUE_IN(matrix), {ops::corrcoef(operands(x), false, at)});
#define CALQUE_MASK positive(x[1])
  CALQUE_CASE(
      "cov_weighted", CALQUE_IN(matrix, Input{{6}}),
      (Handles{ops::cov_weighted(std::vector<Operand>{x[0], ops::exp(x[1], at)}, 1, true, 1, {false, true}, at),
               ops::corrcoef_weighted(std::vector<Operand>{x[0], ops::exp(x[1], at)}, 1, true, {false, true}, at)}));
  CALQUE_CASE("cov_counted", CALQUE_IN(matrix, indices_in({6}, 1, 4)),
              {ops::cov_weighted(operands(x), 1, true, 0, {true, false}, at)});
  CALQUE_CASE("average_and_sum", CALQUE_IN(matrix, Input{{6}}),
              ops::average_and_sum(x[0], ops::exp(x[1], at), Axes(1), true, at));
  CALQUE_CASE("clips_of_one_bound", CALQUE_IN(matrix, Input{{6}}),
              (Handles{ops::clip_one(x[0], x[1], true, at), ops::clip_one(x[0], x[1], false, at)}));
  CALQUE_CASE("sums_where", CALQUE_IN(matrix, Input{{6}}),
              (Handles{ops::sum_where(x[0], CALQUE_MASK, Axes(0), false, at),
                       ops::prod_where(x[0], CALQUE_MASK, Axes(0), true, at),
                       ops::mean_where(x[0], CALQUE_MASK, Axes(), false, at)}))
      .half_error = 16;
  CALQUE_CASE("extrema_where", CALQUE_IN(matrix, Input{{4, 1}}),
              (Handles{ops::amax_where(x[0], CALQUE_MASK, Axes(0), false, at),
                       ops::amin_where(x[0], CALQUE_MASK, Axes(0), true, at)}));
  CALQUE_CASE("variances", CALQUE_IN(matrix, Input{{6}}),
              (Handles{ops::var_where(x[0], CALQUE_MASK, Axes(1), 1, false, at),
                       ops::stddev_where(x[0], CALQUE_MASK, Axes(), 0, true, at),
                       ops::var_ddof(x[0], Axes(0), 1, true, at), ops::stddev_ddof(x[0], Axes(0), 2, false, at)}));
  CALQUE_CASE("truths_where", CALQUE_IN(matrix, Input{{6}}),
              (Handles{ops::all_where(positive(x[0]), CALQUE_MASK, Axes(0), false, at),
                       ops::any_where(positive(x[0]), CALQUE_MASK, Axes(1), false, at),
                       ops::count_nonzero(positive(x[0]), Axes(1), false, at)}))
      .constant = true;
#undef CALQUE_MASK
  // With every other element NaN where it is negative.
#define CALQUE_HOLES \
  ops::where(ops::less(x[0], detail::literal_operand(-1.0), at), detail::literal_operand(std::nan("")), x[0], at)
  CALQUE_CASE("nan_reductions", CALQUE_IN(matrix),
              (Handles{ops::nansum(CALQUE_HOLES, Axes(0), false, at), ops::nanprod(CALQUE_HOLES, Axes(0), true, at),
                       ops::nanmean(CALQUE_HOLES, Axes(), false, at), ops::nanmax(CALQUE_HOLES, Axes(1), false, at),
                       ops::nanmin(CALQUE_HOLES, Axes(1), false, at)}))
      .half_error = 16;
  CALQUE_CASE(
      "nan_variances", CALQUE_IN(matrix),
      (Handles{ops::nanvar(CALQUE_HOLES, Axes(1), 1, true, at), ops::nanstd(CALQUE_HOLES, Axes(), 0, false, at)}));
  CALQUE_CASE("nan_reductions_where", CALQUE_IN(matrix, Input{{6}}),
              (Handles{ops::nansum_where_from(CALQUE_HOLES, positive(x[1]), Axes(0), false, nullptr, at),
                       ops::nanprod_where_from(CALQUE_HOLES, positive(x[1]), Axes(0), true, nullptr, at),
                       ops::nanmax_where_from(CALQUE_HOLES, positive(x[1]), Axes(), false, nullptr, at),
                       ops::nanmin_where_from(CALQUE_HOLES, positive(x[1]), Axes(), false, nullptr, at)}))
      .half_error = 16;
  CALQUE_CASE("nan_variances_where", CALQUE_IN(matrix, Input{{6}}),
              (Handles{ops::nanvar_where(CALQUE_HOLES, positive(x[1]), Axes(), 1, true, at),
                       ops::nanstd_where(CALQUE_HOLES, positive(x[1]), Axes(), 0, false, at)}));
  CALQUE_CASE("nan_cumulative", CALQUE_IN(matrix),
              (Handles{ops::nancumsum(CALQUE_HOLES, 1, at), ops::nancumprod(CALQUE_HOLES, 0, at)}))
      .half_error = 16;
  CALQUE_CASE("nan_indices", CALQUE_IN(matrix),
              (Handles{ops::nanargmax(CALQUE_HOLES, 1, at), ops::nanargmin(CALQUE_HOLES, 0, at)}))
      .constant = true;
  CALQUE_CASE("nan_indices_kept", CALQUE_IN(matrix),
              (Handles{ops::nanargmax_kept(CALQUE_HOLES, 1, true, at), ops::nanargmin_kept(CALQUE_HOLES, 0, true, at)}))
      .constant = true;
  CALQUE_CASE("nan_to_num", CALQUE_IN(matrix), {ops::nan_to_num(CALQUE_HOLES, 0.5, std::nullopt, std::nullopt, at)});
#undef CALQUE_HOLES
  // Logic.
  CALQUE_CASE("comparisons", CALQUE_IN(small, small),
              (Handles{ops::isclose(x[0], x[1], 0.5, 0.25, true, at), ops::allclose(x[0], x[1], 9, 9, false, at),
                       ops::array_equal(x[0], x[1], true, at), ops::array_equiv(x[0], x[0], at),
                       ops::isposinf(x[0], at), ops::isneginf(x[0], at), ops::isreal(x[0], at),
                       ops::iscomplex(x[0], at), ops::logical_xor(positive(x[0]), positive(x[1]), at)}))
      .constant = true;
  CALQUE_CASE("isin", CALQUE_IN(indices_in({3, 4}, 0, 9), indices_in({4}, 0, 9)),
              (Handles{ops::isin(x[0], x[1], true, at)}))
      .constant = true;
  CALQUE_CASE("select", CALQUE_IN(small, small, Input{{4}}),
              {ops::select_of(std::vector<Operand>{positive(x[0]), positive(x[1]), x[1], x[2], x[0]}, at)});
  CALQUE_CASE("choose", CALQUE_IN(indices_in({3, 4}, -1, 4), small, small, Input{{4}}),
              {ops::choose(operands(x), mode::wrap, at)});
  // Arithmetic.
  CALQUE_CASE("heaviside", CALQUE_IN(small, small), {ops::heaviside(x[0], x[1], at)});
  CALQUE_CASE("float_power", CALQUE_IN(Input({{3, 4}, 0.4, 2}), small), {ops::float_power(x[0], x[1], at)}).half_error =
      8;
  CALQUE_CASE("true_divide", CALQUE_IN(small, Input({{4}, 0.6, 3})), {ops::true_divide(x[0], x[1], at)});
  CALQUE_CASE("angles", CALQUE_IN(small), (Handles{ops::deg2rad(x[0], at), ops::rad2deg(x[0], at)}));
  CALQUE_CASE("reciprocal", CALQUE_IN(Input({{3, 4}, 0.6, 3})), {ops::reciprocal(x[0], at)});
  CALQUE_CASE("modf", CALQUE_IN(small), ops::modf(x[0], at));
  CALQUE_CASE("divmod", CALQUE_IN(small, Input({{4}, 0.6, 1.1})), ops::divmod(x[0], x[1], at)).half_error = 64;
  CALQUE_CASE("frexp", CALQUE_IN(Input({{3, 4}, 0.1, 9})), (Handles{ops::frexp(x[0], at)[0]}));
  CALQUE_CASE("spacing", CALQUE_IN(small), (Handles{ops::spacing(x[0], at)})).constant = true;
  CALQUE_CASE("round", CALQUE_IN(small), (Handles{ops::round_decimals(x[0], 1, at)})).constant = true;
  CALQUE_CASE("integers", CALQUE_IN(indices_in({3, 4}, -1e9, 1e9), indices_in({4}, -1e9, 1e9)),
              (Handles{ops::mulhi(x[0], x[1], at), ops::reduce_xor(x[0], Axes(0), false, at),
                       ops::reduce_xor(x[0], Axes(), true, at)}))
      .constant = true;
  CALQUE_CASE(
      "bits", CALQUE_IN(indices_in({3, 11}, 0, 2)),
      (Handles{ops::packbits(x[0], 1, bitorder::little, at),
               ops::unpackbits(ops::packbits(x[0], std::nullopt, bitorder::big, at), 0, -3, bitorder::big, at)}))
      .constant = true;
  CALQUE_CASE("vecdot_along", CALQUE_IN(small, small), {ops::vecdot_along(x[0], x[1], 0, at)}).half_error = 8;
  CALQUE_CASE("cross_along", CALQUE_IN(small, Input{{4, 3}}),
              {ops::transpose(ops::cross_along(x[0], x[1], 0, 1, 0, at), at)})
      .half_error = 8;
  CALQUE_CASE("matvec", CALQUE_IN(cube, Input{{2, 4}}), {ops::matvec(x[0], x[1], at)}).half_error = 8;
  CALQUE_CASE("vecmat", CALQUE_IN(Input{{3}}, cube), {ops::vecmat(x[0], x[1], at)}).half_error = 8;
  // Polynomials.
  CALQUE_CASE("polyval", CALQUE_IN(Input{{4}}, small), {ops::polyval(x[0], x[1], at)}).half_error = 8;
  CALQUE_CASE("polyadd", CALQUE_IN(Input{{4}}, Input{{2}}),
              (Handles{ops::polyadd(x[0], x[1], at), ops::polysub(x[1], x[0], at)}));
  CALQUE_CASE("polymul", CALQUE_IN(Input{{4}}, Input{{2}}), {ops::polymul(x[0], x[1], at)});
  CALQUE_CASE("polyder", CALQUE_IN(Input{{5}}), (Handles{ops::polyder(x[0], 2, at), ops::polyint(x[0], 2, at)}));
  CALQUE_CASE("polyint_from", CALQUE_IN(Input{{5}}, Input{{3}}), {ops::polyint_from(x[0], 3, x[1], at)});
  CALQUE_CASE("polydiv", CALQUE_IN(Input{{6}}, Input({{3}, 0.6, 2})), ops::polydiv(x[0], x[1], at)).half_error = 40;
  CALQUE_CASE("poly", CALQUE_IN(Input{{4}}), {ops::poly(x[0], at)});
  for (const convolve_mode m : {convolve_mode::full, convolve_mode::same, convolve_mode::valid}) {
    CALQUE_CASE("convolve_" + std::to_string(static_cast<int>(m)), CALQUE_IN(Input{{8}}, Input{{3}}),
                {ops::convolve(x[0], x[1], m, at)});
    CALQUE_CASE("correlate_" + std::to_string(static_cast<int>(m)), CALQUE_IN(Input{{3}}, Input{{8}}),
                {ops::correlate(x[0], x[1], m, at)});
  }
  CALQUE_CASE("convolve_long", CALQUE_IN(Input{{40}}, Input{{30}}),
              {ops::convolve(x[0], x[1], convolve_mode::full, at)});
  CALQUE_CASE("spaced", CALQUE_IN(Input{{2, 1}}, Input{{3}}),
              (Handles{ops::linspace_between(x[0], x[1], 5, true, 1, at),
                       ops::logspace_between(x[0], x[1], 4, false, 2, -1, at)}))
      .half_error = 16;
  CALQUE_CASE("geomspace_between", CALQUE_IN(Input({{2, 1}, 0.3, 2}), Input({{3}, 0.3, 2})),
              {ops::geomspace_between(x[0], x[1], 4, true, 0, at)})
      .half_error = 16;
  // By indices.
  CALQUE_CASE("unravel_index", CALQUE_IN(indices_in({5}, -15, 15)), ops::unravel_index(x[0], grid, at)).constant = true;
  CALQUE_CASE("ravel_multi_index", CALQUE_IN(indices_in({5}, -1, 4), indices_in({5}, -1, 5)),
              (Handles{ops::ravel_multi_index(operands(x), grid, mode::wrap, at)}))
      .constant = true;
  CALQUE_CASE("fill_diagonal", CALQUE_IN(small, Input{{}}), {ops::fill_diagonal(x[0], x[1], at)});
  CALQUE_CASE("fill_diagonal_list", CALQUE_IN(small, Input{{2}}), {ops::fill_diagonal(x[0], x[1], at)});
  CALQUE_CASE("replaced", CALQUE_IN(small, Input{{3}}), {ops::place(x[0], positive(x[0]), x[1], at)});
  CALQUE_CASE("filled_takes", CALQUE_IN(small, indices_in({2, 2}, -7, 7), indices_in({3, 2}, -7, 7)),
              (Handles{ops::take_filled(x[0], x[1], 1, detail::literal_operand(0.5), at),
                       ops::take_along_axis_filled(x[0], x[2], 1, detail::literal_operand(0.5), at)}));
  CALQUE_CASE("put_along_axis_in", CALQUE_IN(small, indices_in({3, 2}, -9, 9), Input{{3, 2}}),
              (Handles{ops::put_along_axis_in(x[0], x[1], x[2], 1, mode::wrap, at),
                       ops::put_along_axis_in(x[0], x[1], x[2], 1, mode::clip, at)}));
  CALQUE_CASE("put_along_axis", CALQUE_IN(small, indices_in({3, 2}, -4, 4), Input{{3, 2}}),
              {ops::put_along_axis(x[0], x[1], x[2], 1, at)});
  CALQUE_CASE("put", CALQUE_IN(small, indices_in({5}, -14, 14), Input{{3}}),
              {ops::put(x[0], x[1], x[2], mode::fill, at)});
  CALQUE_CASE("segment_sum", CALQUE_IN(Input{{7, 2}}, indices_in({7}, -1, 5)), {ops::segment_sum(x[0], x[1], 4, at)})
      .half_error = 8;
  CALQUE_CASE("segment_extrema", CALQUE_IN(Input{{7, 2}}, indices_in({7}, 0, 2)),
              (Handles{ops::segment_max(x[0], x[1], 2, at), ops::segment_min(x[0], x[1], 2, at)}));
  CALQUE_CASE("nonzero", CALQUE_IN(small), (Handles{ops::flatnonzero(positive(x[0]), 5, -1, at)})).constant = true;
  CALQUE_CASE("nonzero_nd", CALQUE_IN(small), ops::nonzero(positive(x[0]), 8, 0, at)).constant = true;
  CALQUE_CASE("argwhere", CALQUE_IN(small), (Handles{ops::argwhere(positive(x[0]), 3, -1, at)})).constant = true;
  CALQUE_CASE("extract", CALQUE_IN(small), {ops::extract(positive(x[0]), x[0], 4, detail::literal_operand(-1.0), at)});
  CALQUE_CASE("compress", CALQUE_IN(small, Input{{4}}),
              {ops::compress(positive(x[1]), x[0], 1, 3, detail::literal_operand(0.0), at)});
  CALQUE_CASE("diagflat", CALQUE_IN(Input{{2, 2}}), {ops::diagflat(x[0], 1, at)});
#undef CALQUE_CASE
#undef CALQUE_IN
  return all;
}

std::vector<VocabularyCase> layer_cases() {
  const Location at;
  const Input small({{3, 4}, -4, 4}), images({{2, 7, 6, 3}});
  std::vector<VocabularyCase> all;
  const auto add = [&](std::string name, std::vector<Input> inputs,
                       std::function<Handles(In)> body) -> VocabularyCase& {
    all.push_back({std::move(name), std::move(inputs), std::move(body)});
    return all.back();
  };
#define CALQUE_X(f) \
  if (std::string_view(#f) != "log1mexp") add(#f, {small}, [=](In x) -> Handles { return {ops::f(x[0], at)}; });
  CALQUE_ACTIVATIONS(CALQUE_X)
#undef CALQUE_X
#define CALQUE_CASE(name, inputs, call) add(name, inputs, [=](In x) -> Handles { return call; })
#define CALQUE_IN(...) (std::vector<Input>{__VA_ARGS__})
  CALQUE_CASE("elu", CALQUE_IN(small), (Handles{ops::elu(x[0], 0.7, at), ops::celu(x[0], 0.7, at)}));
  CALQUE_CASE("gelu", CALQUE_IN(small), (Handles{ops::gelu(x[0], true, at), ops::gelu(x[0], false, at)}));
  CALQUE_CASE("leaky_relu", CALQUE_IN(small), {ops::leaky_relu(x[0], 0.05, at)});
  CALQUE_CASE("squareplus", CALQUE_IN(small), {ops::squareplus(x[0], 4, at)});
  CALQUE_CASE("glu", CALQUE_IN(small), {ops::glu(x[0], 1, at)});
  CALQUE_CASE("logmeanexp", CALQUE_IN(small), {ops::logmeanexp(x[0], Axes(1), false, at)});
  CALQUE_CASE("logs_of_sums_where", CALQUE_IN(small, Input{{3, 1}}),
              (Handles{ops::logsumexp_where(x[0], positive(x[0]), Axes(), true, at),
                       ops::logmeanexp_where(x[0], positive(x[0]), Axes(), false, at)}));
  CALQUE_CASE("logsumexp_weighted", CALQUE_IN(small, Input({{4}, 0.3, 2})),
              {ops::logsumexp_weighted(x[0], x[1], Axes(1), false, at)});
  CALQUE_CASE("logsumexp_signed", CALQUE_IN(small, Input({{4}, -9, -1})),
              {ops::logsumexp_signed(x[0], x[1], Axes(0), true, at)[0]});
  CALQUE_CASE("softmax_where", CALQUE_IN(small, Input{{4}}),
              (Handles{ops::softmax_where(x[0], positive(x[1]), 1, at),
                       ops::where(positive(x[1]), ops::log_softmax_where(x[0], positive(x[1]), 1, at),
                                  detail::literal_operand(0.0), at)}));
  CALQUE_CASE("standardize_where", CALQUE_IN(small, Input{{4}}),
              {ops::standardize_where(x[0], positive(x[1]), Axes(), 1e-2, at)})
      .half_error = 8;
  CALQUE_CASE("standardize_with", CALQUE_IN(small, Input{{4}}, Input({{3, 1}, 0.5, 2})),
              {ops::standardize_with(x[0], x[1], x[2], 1e-5, at)})
      .half_error = 8;
  CALQUE_CASE("conv_patches", CALQUE_IN(images),
              (Handles{ops::conv_patches(x[0], {2, 3}, {2, 1}, same, {1, 2}, at),
                       ops::conv_patches(x[0], {3, 2}, {}, valid, {}, at)}));
  const PoolOptions halves{{2, 2}, {2, 2}, valid}, overlapping{{3, 2}, {2, 1}, same}, wide{{9}, {2}, same};
  for (const PoolOptions& o : {halves, overlapping}) {
    const std::string kind = o.padding.kind == Padding::Kind::same ? "_same" : "_valid";
    CALQUE_CASE("max_pool" + kind, CALQUE_IN(images),
                (Handles{ops::max_pool(x[0], o, at), ops::min_pool(x[0], o, at)}));
    CALQUE_CASE(
        "avg_pool" + kind, CALQUE_IN(images),
        (Handles{ops::avg_pool(x[0], o, false, at), ops::avg_pool(x[0], o, true, at), ops::sum_pool(x[0], o, at)}));
  }
  CALQUE_CASE("pool_wide", CALQUE_IN(Input{{2, 13, 2}}),
              (Handles{ops::max_pool(x[0], wide, at), ops::avg_pool(x[0], wide, false, at)}));
  for (const std::vector<int64_t>& strides : {std::vector<int64_t>{1, 1}, {2, 3}}) {
    for (const Padding& padding : {Padding(same), Padding(valid)}) {
      CALQUE_CASE("conv_transpose", CALQUE_IN(Input{{1, 4, 3, 2}}, Input{{3, 2, 2, 3}}),
                  {ops::conv_transpose(x[0], x[1], strides, padding, at)})
          .half_error = 8;
    }
  }
  CALQUE_CASE("log1mexp", CALQUE_IN(Input({{3, 4}, 0.1, 4})), {ops::log1mexp(x[0], at)});
  const PoolOptions running{{2, 3}, {1, 2}, same};
  CALQUE_CASE("reduce_window", CALQUE_IN(small),
              (Handles{ops::reduce_window(x[0], window_reduction::sum, running, at),
                       ops::reduce_window(x[0], window_reduction::prod, running, at),
                       ops::reduce_window(x[0], window_reduction::max, running, at),
                       ops::reduce_window(x[0], window_reduction::min, running, at)}))
      .half_error = 16;
  const Input heads{{2, 5, 4, 3}}, shared{{2, 6, 2, 3}};
  CALQUE_CASE("attention", CALQUE_IN(heads, shared, shared),
              {ops::dot_product_attention(x[0], x[1], x[2], nullptr, false, std::nullopt, at)})
      .half_error = 8;
  CALQUE_CASE("attention_causal", CALQUE_IN(heads, heads, heads),
              {ops::dot_product_attention(x[0], x[1], x[2], nullptr, true, 0.3, at)})
      .half_error = 8;
  add("attention_masked", {heads, heads, heads, Input{{5, 5}}}, [=](In x) -> Handles {
    const Operand mask = positive(x[3]), bias = x[3];
    return {ops::dot_product_attention(x[0], x[1], x[2], &mask, false, std::nullopt, at),
            ops::dot_product_attention(x[0], x[1], x[2], &bias, false, std::nullopt, at)};
  }).half_error = 8;
  CALQUE_CASE("standardize", CALQUE_IN(small), {ops::standardize(x[0], Axes(0), 1e-5, at)}).half_error = 8;
  CALQUE_CASE("rms_norm", CALQUE_IN(small), {ops::rms_norm(x[0], 1, 1e-6, at)});
  CALQUE_CASE("batch_norm", CALQUE_IN(small, Input{{4}}, Input({{4}, 0.5, 2}), Input{{4}}, Input{{4}}),
              {ops::batch_norm(operands(x), -1, 1e-5, at)});
  CALQUE_CASE("one_hot", CALQUE_IN(indices_in({3, 2}, -2, 6)), (Handles{ops::one_hot(DType::f32, x[0], 4, 1, at)}))
      .constant = true;
#undef CALQUE_CASE
#undef CALQUE_IN
  return all;
}

}  // namespace calque::test
