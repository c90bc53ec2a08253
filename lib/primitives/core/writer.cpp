#include "primitives/core/writer.h"

#include <numbers>

#include "primitives/list.h"

namespace calque::primitives {

Equation& Writer::append(PrimitiveId id, ValueList operands, Attributes attributes,
                         std::vector<Graph> subgraphs) const {
  return graph_->append(primitive(id), std::move(operands), std::move(attributes), std::move(subgraphs), location_);
}

Value Writer::emit(PrimitiveId id, ValueList operands, Attributes attributes) const {
  return append(id, std::move(operands), std::move(attributes)).result();
}

Value Writer::splat(double value, const Type& type) const {
  return graph_->add_literal(make_literal(type.dtype, value), Type(type));
}

Value Writer::add(Value a, Value b) const { return emit(id_of<Add>, {a, b}); }
Value Writer::mul(Value a, Value b) const { return emit(id_of<Mul>, {a, b}); }
Value Writer::neg(Value x) const { return emit(id_of<Neg>, {x}); }
Value Writer::select(Value predicate, Value on_true, Value on_false) const {
  return emit(id_of<Select>, {predicate, on_true, on_false});
}

Value Writer::convert(Value x, DType to) const {
  return dtype(x) == to ? x : emit(id_of<Convert>, {x}, {{"dtype", to}});
}

Value Writer::reshape(Value x, const Shape& to) const {
  if (shape(x) == to) return x;
  return emit(id_of<Reshape>, {x}, {{"shape", std::vector<int64_t>(to.begin(), to.end())}});
}

Value Writer::transpose(Value x, std::vector<int64_t> perm) const {
  bool identity = true;
  for (size_t i = 0; i < perm.size(); ++i) identity = identity && perm[i] == static_cast<int64_t>(i);
  return identity ? x : emit(id_of<Transpose>, {x}, {{"perm", std::move(perm)}});
}

Value Writer::broadcast(Value x, const Shape& to, std::vector<int64_t> axes) const {
  if (graph_->is_literal(x)) return graph_->add_literal(graph_->literal(x), {dtype(x), to});
  if (shape(x) == to) return x;
  return emit(id_of<Broadcast>, {x},
              {{"axes", std::move(axes)}, {"shape", std::vector<int64_t>(to.begin(), to.end())}});
}

Value Writer::reduce_sum(Value x, std::vector<int64_t> axes) const {
  return axes.empty() ? x : emit(id_of<ReduceSum>, {x}, {{"axes", std::move(axes)}});
}

Value Writer::slice(Value x, size_t axis, int64_t start, int64_t limit, int64_t stride) const {
  const Shape from = shape(x);
  std::vector<int64_t> starts(from.size(), 0), limits(from.begin(), from.end()), strides(from.size(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return emit(id_of<Slice>, {x},
              {{"limit", std::move(limits)}, {"start", std::move(starts)}, {"stride", std::move(strides)}});
}

Value Writer::concatenate(ValueList operands, int64_t axis) const {
  return operands.size() == 1 ? operands[0] : emit(id_of<Concatenate>, std::move(operands), {{"axis", axis}});
}

Value Writer::iota(DType dtype, const Shape& to, int64_t axis) const {
  return emit(id_of<Iota>, {},
              {{"axis", axis}, {"dtype", dtype}, {"shape", std::vector<int64_t>(to.begin(), to.end())}});
}

Value Writer::move_axis(Value x, size_t from, size_t to) const {
  std::vector<int64_t> perm;
  for (size_t i = 0; i < shape(x).size(); ++i) {
    if (i != from) perm.push_back(static_cast<int64_t>(i));
  }
  perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(to), static_cast<int64_t>(from));
  return transpose(x, std::move(perm));
}

std::vector<Value> Writer::inline_graph(const Graph& body, std::span<const Value> inputs) const {
  std::vector<Value> map(body.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) map[body.inputs()[i].id()] = inputs[i];
  const auto value = [&](Value v) {
    Value& to = map[v.id()];
    if (!to.valid()) to = graph_->add_copy(body, v);
    return to;
  };
  for (const Equation& e : body.equations()) {
    ValueList operands;
    operands.reserve(e.operands().size());
    for (const Value v : e.operands()) operands.push_back(value(v));
    const Equation& copy = graph_->append_copy(body, e, std::move(operands));
    for (size_t i = 0; i < e.results().size(); ++i) map[e.result(i).id()] = copy.result(i);
  }
  std::vector<Value> outputs;
  outputs.reserve(body.outputs().size());
  for (const Value v : body.outputs()) outputs.push_back(value(v));
  return outputs;
}

// ---- terms

namespace {

Term unary(PrimitiveId id, Term x) { return {x.writer, x.writer->emit(id, {x.value})}; }
Term binary(PrimitiveId id, Term x, Term y) { return {x.writer, x.writer->emit(id, {x.value, y.value})}; }

}  // namespace

Term constant(Term x, double number) { return {x.writer, x.writer->splat(number, x.writer->type(x.value))}; }

Term operator-(Term x) { return unary(id_of<Neg>, x); }
Term operator+(Term x, Term y) { return binary(id_of<Add>, x, y); }
Term operator-(Term x, Term y) { return binary(id_of<Sub>, x, y); }
Term operator*(Term x, Term y) { return binary(id_of<Mul>, x, y); }
Term operator/(Term x, Term y) { return binary(id_of<Div>, x, y); }
Term operator+(Term x, double y) { return x + constant(x, y); }
Term operator-(Term x, double y) { return x - constant(x, y); }
Term operator+(double x, Term y) { return constant(y, x) + y; }
Term operator-(double x, Term y) { return constant(y, x) - y; }
Term operator*(double x, Term y) { return constant(y, x) * y; }
Term operator/(double x, Term y) { return constant(y, x) / y; }
Term operator/(Term x, double y) { return x / constant(x, y); }

Term operator==(Term x, Term y) { return binary(id_of<Eq>, x, y); }
Term operator==(Term x, double y) { return x == constant(x, y); }
Term operator<(Term x, Term y) { return binary(id_of<Lt>, x, y); }
Term operator>(Term x, Term y) { return binary(id_of<Gt>, x, y); }
Term operator<=(Term x, Term y) { return binary(id_of<Le>, x, y); }
Term operator>=(Term x, Term y) { return binary(id_of<Ge>, x, y); }
Term operator&(Term x, Term y) { return binary(id_of<And>, x, y); }
Term operator|(Term x, Term y) { return binary(id_of<Or>, x, y); }
Term select(Term predicate, Term on_true, Term on_false) {
  return {on_true.writer, on_true.writer->select(predicate.value, on_true.value, on_false.value)};
}
Term where(Term predicate, Term x) { return select(predicate, x, constant(x, 0)); }
Term nonzero(Term x) { return select(x == 0.0, constant(x, 1), x); }
Term share(Term greater, Term equal, Term like) {
  return select(greater, constant(like, 1), select(equal, constant(like, 0.5), constant(like, 0)));
}

Term abs(Term x) { return unary(id_of<Abs>, x); }
Term sign(Term x) { return unary(id_of<Sign>, x); }
Term trunc(Term x) { return unary(id_of<Trunc>, x); }
Term round(Term x) { return unary(id_of<Round>, x); }
Term copysign(Term x, Term y) { return binary(id_of<Copysign>, x, y); }
Term sqrt(Term x) { return unary(id_of<Sqrt>, x); }
Term rsqrt(Term x) { return unary(id_of<Rsqrt>, x); }
Term strong_mul(Term x, Term y) { return binary(id_of<StrongMul>, x, y); }
Term pow(Term x, Term y) { return binary(id_of<Pow>, x, y); }
Term exp(Term x) { return unary(id_of<Exp>, x); }
Term log(Term x) { return unary(id_of<Log>, x); }
Term sin(Term x) { return unary(id_of<Sin>, x); }
Term cos(Term x) { return unary(id_of<Cos>, x); }
Term sinh(Term x) { return unary(id_of<Sinh>, x); }
Term cosh(Term x) { return unary(id_of<Cosh>, x); }
Term digamma(Term x) { return unary(id_of<Digamma>, x); }
Term trigamma(Term x) { return unary(id_of<Trigamma>, x); }
Term zeta(Term s, Term q) { return binary(id_of<Zeta>, s, q); }
Term erfcx(Term x) { return unary(id_of<Erfcx>, x); }
Term ndtr(Term x) { return unary(id_of<Ndtr>, x); }
Term i0(Term x) { return unary(id_of<I0>, x); }
Term i0e(Term x) { return unary(id_of<I0e>, x); }
Term i1(Term x) { return unary(id_of<I1>, x); }
Term i1e(Term x) { return unary(id_of<I1e>, x); }
Term conj(Term x) { return unary(id_of<Conj>, x); }
Term real(Term x) { return unary(id_of<Real>, x); }
Term imag(Term x) { return unary(id_of<Imag>, x); }
Term complex(Term re, Term im) { return binary(id_of<Complex>, re, im); }
Term convert(Term x, DType dtype) { return {x.writer, x.writer->convert(x.value, dtype)}; }
DType element_dtype(Term x) { return x.writer->dtype(x.value); }

}  // namespace calque::primitives
