#include "calque/conformance/case_functions.h"

#include <map>

#include "calque/conformance/fft_functions.h"
#include "calque/conformance/numpy_functions.h"
#include "calque/conformance/random_functions.h"
#include "calque/conformance/sort_functions.h"
#include "calque/detail/indexing.h"
#include "calque/detail/ops.h"

namespace calque::cli {
namespace {

namespace ops = detail::ops;
using detail::Handle;
using detail::IndexItem;
using detail::Operand;
using Handles = std::vector<Handle>;
using Function = Handles (*)(const FunctionCall&);

// ---- functions that take operands alone

template <Handle (*F)(const Operand&, Location)>
Handles unary(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.at)};
}
template <Handle (*F)(const Operand&, const Operand&, Location)>
Handles binary(const FunctionCall& c) {
  c.expect_operands(2);
  return {F(c.operand(0), c.operand(1), c.at)};
}
template <Handle (*F)(const Operand&, const Operand&, const Operand&, Location)>
Handles ternary(const FunctionCall& c) {
  c.expect_operands(3);
  return {F(c.operand(0), c.operand(1), c.operand(2), c.at)};
}
template <Handle (*F)(const Operand&, const Axes&, bool, Location)>
Handles reduction(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.axes(), c.params.flag("keepdims"), c.at)};
}
template <Handle (*F)(const Operand&, int, Location)>
Handles along_axis(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.axis(), c.at)};
}

// ---- casts, shapes

Handles cast(const FunctionCall& c) { return {ops::cast(c.operand(0), c.params.dtype(), c.at)}; }
Handles bitcast(const FunctionCall& c) { return {ops::bitcast(c.operand(0), c.params.dtype(), c.at)}; }
Handles layer_norm(const FunctionCall& c) {
  return {ops::layer_norm(c.operand(0), c.params.axis(), c.params.number("eps"), c.at)};
}
Handles reshape(const FunctionCall& c) { return {ops::reshape(c.operand(0), c.params.integers("shape"), c.at)}; }
Handles transpose(const FunctionCall& c) {
  if (!c.params.has("perm")) return {ops::transpose(c.operand(0), c.at)};
  return {ops::transpose(c.operand(0), c.params.axis_list("perm"), c.at)};
}
Handles broadcast_to(const FunctionCall& c) { return {ops::broadcast_to(c.operand(0), c.params.shape(), c.at)}; }
Handles expand_dims(const FunctionCall& c) {
  return {ops::expand_dims(c.operand(0), c.params.axis_list("axes"), c.at)};
}
Handles squeeze(const FunctionCall& c) { return {ops::squeeze(c.operand(0), c.params.axes(), c.at)}; }
Handles flip(const FunctionCall& c) { return {ops::flip(c.operand(0), c.params.axes(), c.at)}; }
Handles pad(const FunctionCall& c) {
  std::vector<int64_t> interior;
  if (c.params.has("interior")) interior = c.params.integers("interior");
  return {ops::pad(c.operand(0), c.operand(1), c.params.integers("low"), c.params.integers("high"), interior, c.at)};
}
Handles concatenate(const FunctionCall& c) { return {ops::concatenate(c.operands, c.params.axis(), c.at)}; }
Handles stack(const FunctionCall& c) { return {ops::stack(c.operands, c.params.axis(), c.at)}; }
Handles split(const FunctionCall& c) {
  if (c.params.has("sections")) {
    return ops::split(c.operand(0), c.params.integer("sections"), c.params.axis(), c.at);
  }
  return ops::split_at(c.operand(0), c.params.integers("indices"), c.params.axis(), c.at);
}
Handles tile(const FunctionCall& c) { return {ops::tile(c.operand(0), c.params.integers("reps"), c.at)}; }
Handles repeat(const FunctionCall& c) {
  return {ops::repeat(c.operand(0), c.params.integer("n"), c.params.axis(), c.at)};
}
Handles roll(const FunctionCall& c) {
  return {ops::roll(c.operand(0), c.params.integer("shift"), c.params.axis(), c.at)};
}

// ---- contractions

Handles einsum(const FunctionCall& c) { return {ops::einsum(c.params.text("spec"), c.operands, c.at)}; }
Handles tensordot(const FunctionCall& c) {
  c.expect_operands(2);
  const Json& axes = c.params.get("axes");
  if (axes.is_number()) return {ops::tensordot(c.operand(0), c.operand(1), c.params.axis("axes"), c.at)};
  if (!axes.is_array() || axes.size() != 2) throw CaseError("tensordot: axes must be a number or two lists");
  const auto a = axes[0].get<std::vector<int>>(), b = axes[1].get<std::vector<int>>();
  return {ops::tensordot(c.operand(0), c.operand(1), a, b, c.at)};
}

// ---- indexing

mode out_of_bounds(const FunctionCall& c) {
  if (!c.params.has("mode")) return mode::fill;
  const std::string text = c.params.text("mode");
  if (text == "fill") return mode::fill;
  if (text == "clip") return mode::clip;
  if (text == "wrap") return mode::wrap;
  throw CaseError("mode: expected fill, clip or wrap, got " + text);
}

Handles take(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::take(c.operand(0), c.operand(1), c.params.axis(), out_of_bounds(c), c.at)};
}
Handles take_along_axis(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::take_along_axis(c.operand(0), c.operand(1), c.params.axis(), out_of_bounds(c), c.at)};
}
Handles gather(const FunctionCall& c) { return {ops::gather(c.operand(0), c.operands.subspan(1), c.at)}; }
Handles dynamic_slice(const FunctionCall& c) {
  c.operand(0);
  return {ops::dynamic_slice(c.operand(0), c.operands.subspan(1), c.params.integers("sizes"), c.at)};
}
Handles dynamic_update_slice(const FunctionCall& c) {
  c.operand(1);
  return {ops::dynamic_update_slice(c.operand(0), c.operand(1), c.operands.subspan(2), c.at)};
}

IndexItem range_item(const Json& bounds) {
  if (!bounds.is_array() || bounds.size() != 3) throw CaseError("range: expected start, stop and step");
  IndexItem item;
  item.kind = IndexItem::Kind::range;
  if ((item.has_start = !bounds[0].is_null())) item.start = bounds[0].get<int64_t>();
  if ((item.has_stop = !bounds[1].is_null())) item.stop = bounds[1].get<int64_t>();
  if (!bounds[2].is_null()) item.step = bounds[2].get<int64_t>();
  return item;
}

/// The list `index`; its arrays are the operands from `first` on.
std::vector<IndexItem> index_items(const FunctionCall& c, size_t first) {
  std::vector<IndexItem> items;
  for (const Json& entry : c.params.get("index")) {
    if (entry.is_number_integer()) {
      items.push_back(IndexItem::integer(entry.get<int64_t>()));
    } else if (entry == "all") {
      items.emplace_back();
    } else if (entry == "newaxis") {
      items.push_back(IndexItem::newaxis());
    } else if (entry.is_object() && entry.contains("range")) {
      items.push_back(range_item(entry["range"]));
    } else if (entry.is_object() && entry.contains("arg")) {
      const Operand& x = c.operand(first + entry["arg"].get<size_t>());
      if (x.kind() != Operand::Kind::tracer && x.kind() != Operand::Kind::array) {
        throw CaseError("index: an index array cannot be a literal");
      }
      IndexItem item;
      item.kind = IndexItem::Kind::array;
      if (x.kind() == Operand::Kind::tracer) {
        item.handle = x.handle();
      } else {
        item.array = x.array();
      }
      items.push_back(item);
    } else {
      throw CaseError("index: cannot be read from " + entry.dump());
    }
  }
  return items;
}

Handles at(const FunctionCall& c) { return {detail::index_at(c.operand(0), index_items(c, 1), c.at)}; }
Handles set(const FunctionCall& c) { return {detail::index_set(c.operand(0), index_items(c, 2), c.operand(1), c.at)}; }
Handles add_at(const FunctionCall& c) {
  return {detail::index_add(c.operand(0), index_items(c, 2), c.operand(1), c.at)};
}
Handles mul_at(const FunctionCall& c) {
  return {detail::index_mul(c.operand(0), index_items(c, 2), c.operand(1), c.at)};
}
Handles min_at(const FunctionCall& c) {
  return {detail::index_min(c.operand(0), index_items(c, 2), c.operand(1), c.at)};
}
Handles max_at(const FunctionCall& c) {
  return {detail::index_max(c.operand(0), index_items(c, 2), c.operand(1), c.at)};
}

// ---- linear algebra

Handles triangular_solve(const FunctionCall& c) {
  c.expect_operands(2);
  return {ops::linalg::triangular_solve(c.operand(0), c.operand(1), c.params.flag("lower"), c.params.flag("transpose"),
                                        c.params.flag("unit_diagonal"), c.at)};
}

linalg::ord order(const FunctionCall& c) {
  using linalg::ord;
  static const std::map<std::string_view, ord> orders = {{"fro", ord::fro},
                                                         {"nuc", ord::nuc},
                                                         {"one", ord::one},
                                                         {"two", ord::two},
                                                         {"inf", ord::inf},
                                                         {"minus_one", ord::minus_one},
                                                         {"minus_two", ord::minus_two},
                                                         {"minus_inf", ord::minus_inf}};
  const std::string name = c.params.has("ord") ? c.params.text("ord") : "fro";
  const auto found = orders.find(name);
  if (found == orders.end()) throw CaseError("ord: cannot be read from " + name);
  return found->second;
}

Handles norm(const FunctionCall& c) {
  c.expect_operands(1);
  return {ops::linalg::norm(c.operand(0), order(c), Axes(), false, c.at)};
}
Handles multi_dot(const FunctionCall& c) { return {ops::linalg::multi_dot(c.operands, c.at)}; }

// ---- matrices

template <Handle (*F)(const Operand&, int64_t, Location)>
Handles of_diagonal(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), c.params.integer("k", 0), c.at)};
}
Handles trace(const FunctionCall& c) { return {ops::trace(c.operand(0), c.params.integer("offset", 0), 0, 1, c.at)}; }
Handles diagonal(const FunctionCall& c) {
  return {ops::diagonal(c.operand(0), c.params.integer("offset", 0), 0, 1, c.at)};
}
Handles vander(const FunctionCall& c) {
  std::optional<int64_t> n;
  if (c.params.has("n")) n = c.params.integer("n");
  return {ops::vander(c.operand(0), n, c.params.has("increasing") && c.params.flag("increasing"), c.at)};
}

template <Handles (*F)(const Operand&, Location)>
Handles unary_many(const FunctionCall& c) {
  c.expect_operands(1);
  return F(c.operand(0), c.at);
}
Handles lu_solve(const FunctionCall& c) {
  c.expect_operands(3);
  return {ops::linalg::lu_solve(c.operand(0), c.operand(1), c.operand(2), c.at)};
}
Handles matrix_power(const FunctionCall& c) {
  c.expect_operands(1);
  return {ops::linalg::matrix_power(c.operand(0), c.params.integer("n"), c.at)};
}

template <Handle (*F)(const Operand&, std::optional<double>, Location)>
Handles of_singular_values(const FunctionCall& c) {
  c.expect_operands(1);
  return {F(c.operand(0), std::nullopt, c.at)};
}
Handles lstsq(const FunctionCall& c) {
  c.expect_operands(2);
  return ops::linalg::lstsq(c.operand(0), c.operand(1), std::nullopt, c.at);
}
Handles cond(const FunctionCall& c) {
  c.expect_operands(1);
  return {ops::linalg::cond(c.operand(0), linalg::ord::two, c.at)};
}

Handles polygamma(const FunctionCall& c) {
  c.expect_operands(1);
  return {ops::polygamma(c.params.integer("n"), c.operand(0), c.at)};
}

// ---- creation

Handles zeros(const FunctionCall& c) { return {ops::zeros(c.params.dtype(), c.params.shape(), c.at)}; }
Handles ones(const FunctionCall& c) { return {ops::ones(c.params.dtype(), c.params.shape(), c.at)}; }
Handles full(const FunctionCall& c) {
  const Json& value = c.params.get("value");
  const auto operand = [&]() -> Operand {
    if (value.is_boolean()) return detail::literal_operand(value.get<bool>());
    if (value.is_number_unsigned()) return detail::literal_operand(value.get<uint64_t>());
    if (value.is_number_integer()) return detail::literal_operand(value.get<int64_t>());
    if (value.is_object()) return read_literal(value);
    if (value.is_array() && value.size() == 2) {
      return detail::literal_operand(std::complex<double>(read_number(value[0]), read_number(value[1])));
    }
    return detail::literal_operand(read_number(value));
  };
  return {ops::full(c.params.dtype(), c.params.shape(), operand(), c.at)};
}
Handles iota(const FunctionCall& c) { return {ops::iota(c.params.dtype(), c.params.integer("n"), c.at)}; }
Handles arange(const FunctionCall& c) {
  return {ops::arange(c.params.dtype(), c.params.has("start") ? c.params.number("start") : 0, c.params.number("stop"),
                      c.params.has("step") ? c.params.number("step") : 1, c.at)};
}
Handles eye(const FunctionCall& c) { return {ops::eye(c.params.dtype(), c.params.integer("n"), c.at)}; }
Handles linspace(const FunctionCall& c) {
  return {ops::linspace(c.params.dtype(), c.params.number("lo"), c.params.number("hi"), c.params.integer("n"), c.at)};
}

const std::map<std::string_view, Function>& functions() {
  static const std::map<std::string_view, Function> table = [] {
    std::map<std::string_view, Function> all = random_functions();
    all.insert(numpy_functions().begin(), numpy_functions().end());
    all.insert(sort_functions().begin(), sort_functions().end());
    all.insert(fft_functions().begin(), fft_functions().end());
    all.insert({
    // clang-format off
#define CALQUE_UNARY_BY_HAND(f, result) {#f, &unary<ops::f>},
#define CALQUE_UNARY(f, result, rule, Primitive) CALQUE_UNARY_BY_HAND(f, result)
#define CALQUE_BINARY_BY_HAND(f, result) {#f, &binary<ops::f>},
#define CALQUE_BINARY(f, result, rule, Primitive) CALQUE_BINARY_BY_HAND(f, result)
#include "calque/elementwise.def"
#define CALQUE_X(f) {#f, &unary<ops::f>},
      CALQUE_UNARY_OPERATOR_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
#define CALQUE_X(f) {#f, &binary<ops::f>},
      CALQUE_BINARY_OPERATOR_FUNCTIONS(CALQUE_X)
#undef CALQUE_X
#define CALQUE_X(f) {#f, &reduction<ops::f>},
      CALQUE_REDUCTION(CALQUE_X)
#undef CALQUE_X
#define CALQUE_X(f) {#f, &along_axis<ops::f>},
      CALQUE_ALONG_AXIS(CALQUE_X)
#undef CALQUE_X
      {"ldexp", &binary<ops::ldexp>},
      {"polygamma", &polygamma}, {"betainc", &ternary<ops::betainc>},
      {"fma", &ternary<ops::fma>}, {"where", &ternary<ops::where>}, {"clip", &ternary<ops::clip>},
      {"complex", &binary<ops::as_complex>},
      {"matmul", &binary<ops::matmul>}, {"dot", &binary<ops::dot>}, {"outer", &binary<ops::outer>},
      {"linalg.solve", &binary<ops::linalg::solve>}, {"linalg.inv", &unary<ops::linalg::inv>},
      {"linalg.det", &unary<ops::linalg::det>}, {"linalg.slogdet", &unary_many<ops::linalg::slogdet>},
      {"linalg.lu_factor", &unary_many<ops::linalg::lu_factor>}, {"linalg.lu_solve", &lu_solve},
      {"linalg.qr", &unary_many<ops::linalg::qr>}, {"linalg.matrix_power", &matrix_power},
      {"linalg.eigh", &unary_many<ops::linalg::eigh>}, {"linalg.eigvalsh", &unary<ops::linalg::eigvalsh>},
      {"linalg.eig", &unary_many<ops::linalg::eig>}, {"linalg.eigvals", &unary<ops::linalg::eigvals>},
      {"linalg.svd", &unary_many<ops::linalg::svd>}, {"linalg.svdvals", &unary<ops::linalg::svdvals>},
      {"linalg.pinv", &of_singular_values<ops::linalg::pinv>},
      {"linalg.matrix_rank", &of_singular_values<ops::linalg::matrix_rank>},
      {"linalg.lstsq", &lstsq}, {"linalg.cond", &cond},
      {"linalg.expm", &unary<ops::linalg::expm>},
      {"linalg.cholesky", &unary<ops::linalg::cholesky>}, {"linalg.cho_solve", &binary<ops::linalg::cho_solve>},
      {"linalg.triangular_solve", &triangular_solve},
      {"linalg.norm", &norm}, {"linalg.multi_dot", &multi_dot},
      {"diag", &of_diagonal<ops::diag>}, {"tril", &of_diagonal<ops::tril>}, {"triu", &of_diagonal<ops::triu>},
      {"kron", &binary<ops::kron>}, {"inner", &binary<ops::inner>}, {"vdot", &binary<ops::vdot>},
      {"vecdot", &binary<ops::vecdot>}, {"cross", &binary<ops::cross>},
      {"scatter_add", &ternary<ops::scatter_add>},
#define CALQUE_X(f) {#f, &f}
      CALQUE_X(cast), CALQUE_X(bitcast), CALQUE_X(layer_norm), CALQUE_X(reshape), CALQUE_X(transpose),
      CALQUE_X(broadcast_to), CALQUE_X(expand_dims), CALQUE_X(squeeze), CALQUE_X(flip), CALQUE_X(pad),
      CALQUE_X(concatenate), CALQUE_X(stack), CALQUE_X(split), CALQUE_X(tile), CALQUE_X(repeat), CALQUE_X(roll),
      CALQUE_X(einsum), CALQUE_X(tensordot), CALQUE_X(take), CALQUE_X(take_along_axis), CALQUE_X(gather),
      CALQUE_X(dynamic_slice), CALQUE_X(dynamic_update_slice), CALQUE_X(at), CALQUE_X(set), CALQUE_X(add_at),
      CALQUE_X(mul_at), CALQUE_X(min_at), CALQUE_X(max_at),
      CALQUE_X(zeros), CALQUE_X(ones), CALQUE_X(full), CALQUE_X(iota), CALQUE_X(arange), CALQUE_X(eye),
      CALQUE_X(linspace), CALQUE_X(trace), CALQUE_X(diagonal), CALQUE_X(vander),
#undef CALQUE_X
        // clang-format on
    });
    return all;
  }();
  return table;
}

}  // namespace

void FunctionCall::expect_operands(size_t count) const {
  if (operands.size() == count) return;
  throw CaseError(std::string(name) + ": expected " + std::to_string(count) + " arguments, got " +
                  std::to_string(operands.size()));
}

const Operand& FunctionCall::operand(size_t i) const {
  if (i < operands.size()) return operands[i];
  throw CaseError(std::string(name) + ": argument " + std::to_string(i) + " is missing");
}

std::optional<std::string> why_unsupported(std::string_view function) {
  if (functions().contains(function)) return std::nullopt;
  return "function " + std::string(function);
}

Handles call_function(const FunctionCall& call) {
  const auto found = functions().find(call.name);
  if (found == functions().end()) throw Unsupported("function " + std::string(call.name));
  try {
    return found->second(call);
  } catch (const Json::exception& e) {
    throw CaseError(std::string(call.name) + ": " + e.what());
  }
}

}  // namespace calque::cli
