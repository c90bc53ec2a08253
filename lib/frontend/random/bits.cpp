// Keys, bits and uniform numbers.
#include "calque/ir/dtype.h"

#include "frontend/random/random.h"

namespace calque::detail::ops::random {
namespace {

Handle word(uint32_t value, const Shape& shape, const Site& s) {
  return literal(Literal::of(value), {DType::u32, shape}, s.at);
}

template <class P>
Handle encrypt(const Key& key, const Counter& counter, const Site& s) {
  const Shape to = shape(counter.low);
  return emit<P>(s, {broadcast(key.k0, to, s), broadcast(key.k1, to, s), counter.high, counter.low});
}

/// The halves of u64.
Key halves(Handle x, const Site& s) {
  const Handle high = emit<prim::ShrLogical>(s, {x, splat(32, {DType::u64, shape(x)}, s)});
  return {convert(high, DType::u32, s), convert(x, DType::u32, s)};
}

/// x op y, rounded where it stands, in every mode.
template <class P>
Handle rounded(Handle x, Handle y, const Site& s) {
  const DType d = dtype(x);
  return convert(emit<P>(s, {convert(x, wide(d), s), convert(y, wide(d), s)}, {{"exact", true}}), d, s);
}

/// How a number in [1, 2) is made of random bits: the first `fraction` of `drawn` bits follow the point.
struct Format {
  DType bits;
  int drawn, fraction;
  int64_t one;
};

constexpr Format format_of(DType d) {
  switch (d) {
    case DType::f64:
      return {DType::u64, 64, 52, 0x3ff0000000000000};
    case DType::f32:
      return {DType::u32, 32, 23, 0x3f800000};
    case DType::f16:
      return {DType::u16, 16, 10, 0x3c00};
    default:
      return {DType::u16, 8, 7, 0x3f80};  // bf16
  }
}

}  // namespace

Counter counter_of(const Shape& shape, const Site& s) {
  const int64_t n = shape.num_elements();
  const auto counted = [&](DType d) {
    const Handle flat = emit<prim::Iota>(s, {}, {{"axis", int64_t{0}}, {"dtype", d}, {"shape", Ints{n}}});
    return reshape(flat, shape, s);
  };
  if (n <= int64_t{1} << 32) return {word(0, shape, s), counted(DType::u32)};
  const Handle wide = counted(DType::u64);
  const Handle high = emit<prim::ShrLogical>(s, {wide, splat(32, {DType::u64, shape}, s)});
  return {convert(high, DType::u32, s), convert(wide, DType::u32, s)};
}

Counter first_of(const Shape& shape, const Site& s) { return {word(0, shape, s), word(0, shape, s)}; }

Key each_of(const Key& key, const Shape& shape, const Site& s) {
  return halves(encrypt<prim::RandomBits64>(key, counter_of(shape, s), s), s);
}

Key repeated(const Key& key, const Shape& shape, const Site& s) {
  return {broadcast(key.k0, shape, s), broadcast(key.k1, shape, s)};
}

Key key_of(const Operand& key, const Site& s) {
  const Handle h = value(key, s);
  const Type t = type(h);
  if (t.dtype != DType::u32) s.dtype_error("a key is u32[2], got " + to_string(t) + "; make one with random::key");
  if (t.shape != Shape{2}) s.shape_error("a key is u32[2], got " + to_string(t) + "; vmap draws with many keys");
  const auto scalar = [&](int64_t i) { return reshape(slice_axis(h, 0, i, i + 1, 1, s), {}, s); };
  return {scalar(0), scalar(1)};
}

Handle joined(const Key& key, const Site& s) {
  return emit<prim::Concatenate>(s, {reshape(key.k0, {1}, s), reshape(key.k1, {1}, s)}, {{"axis", int64_t{0}}});
}

Key derived(const Key& key, uint32_t i, const Site& s) {
  const Shape each = shape(key.k0);
  return halves(encrypt<prim::RandomBits64>(key, {word(0, each, s), word(i, each, s)}, s), s);
}

Handle bits32(const Key& key, const Shape& shape, const Site& s) {
  return encrypt<prim::RandomBits32>(key, counter_of(shape, s), s);
}
Handle bits64(const Key& key, const Shape& shape, const Site& s) {
  return encrypt<prim::RandomBits64>(key, counter_of(shape, s), s);
}

void check_floating(DType d, const Site& s) {
  if (!is_floating(d)) s.dtype_error("needs a floating-point type, got " + std::string(name(d)));
}
void check_integer(DType d, const Site& s) {
  if (!is_integer(d)) s.dtype_error("needs an integer type, got " + std::string(name(d)));
}

Handle uniform(const Key& key, DType d, const Shape& shape, const Site& s) {
  return uniform(key, d, counter_of(shape, s), s);
}

Handle uniform(const Key& key, DType d, const Counter& counter, const Site& s) {
  const Format format = format_of(d);
  const Shape to = shape(counter.low);
  const Type words{format.bits, to};
  const auto constant = [&](int64_t x) { return literal(make_literal(format.bits, x), words, s.at); };
  Handle bits =
      d == DType::f64 ? encrypt<prim::RandomBits64>(key, counter, s) : encrypt<prim::RandomBits32>(key, counter, s);
  if (format.drawn == 8) bits = convert(bits, DType::u8, s);
  bits = emit<prim::ShrLogical>(s, {convert(bits, format.bits, s), constant(format.drawn - format.fraction)});
  bits = emit<prim::Or>(s, {bits, constant(format.one)});
  return rounded<prim::Sub>(emit<prim::Bitcast>(s, {bits}, {{"dtype", d}}), splat(1, {d, to}, s), s);
}

Handle uniform(const Key& key, DType d, const Counter& counter, Handle low, Handle high, const Site& s) {
  const Shape to = shape(counter.low);
  const Handle from = broadcast(low, to, s), until = broadcast(high, to, s);
  const Handle scaled = rounded<prim::Mul>(uniform(key, d, counter, s), rounded<prim::Sub>(until, from, s), s);
  return emit<prim::Max>(s, {from, rounded<prim::Add>(scaled, from, s)});
}

Handle uniform(const Key& key, DType d, const Shape& shape, Handle low, Handle high, const Site& s) {
  return uniform(key, d, counter_of(shape, s), low, high, s);
}

Handle uniform(const Key& key, DType d, const Shape& shape, double low, double high, const Site& s) {
  return uniform(key, d, shape, splat(low, {d, {}}, s), splat(high, {d, {}}, s), s);
}

// ---- public

Handle key(const Operand& seed, Location at) {
  const Site s{"random::key", at};
  const Handle x = value(seed, s);
  check_integer(dtype(x), s);
  if (shape(x).rank() != 0) s.shape_error("the seed is a scalar, got " + to_string(type(x)));
  // The upper word of a shorter seed is zero, whatever its sign.
  if (size_of(dtype(x)) < 8) return joined({word(0, {}, s), convert(x, DType::u32, s)}, s);
  return joined(halves(convert(x, DType::u64, s), s), s);
}

std::vector<Handle> split(const Operand& key, int64_t n, Location at) {
  const Site s{"random::split", at};
  if (n < 0 || n > UINT32_MAX) s.shape_error("the number of keys must be in [0, 2^32), got " + std::to_string(n));
  const Key from = key_of(key, s);
  std::vector<Handle> keys;
  for (int64_t i = 0; i < n; ++i) keys.push_back(joined(derived(from, static_cast<uint32_t>(i), s), s));
  return keys;
}

Handle fold_in(const Operand& key, const Operand& data, Location at) {
  const Site s{"random::fold_in", at};
  const Key from = key_of(key, s);
  const Handle x = data.kind() == Operand::Kind::weak ? value(data, DType::i64, s) : value(data, s);
  check_integer(dtype(x), s);
  if (shape(x).rank() != 0) {
    s.shape_error("folds in a scalar, got " + to_string(type(x)) + "; vmap makes a key for each");
  }
  const Handle low = convert(x, DType::u32, s);
  return joined(halves(encrypt<prim::RandomBits64>(from, {word(0, {}, s), low}, s), s), s);
}

Handle bits(const Operand& key, DType d, const Shape& shape, Location at) {
  const Site s{"random::bits", at};
  if (!is_unsigned_integer(d)) s.dtype_error("needs an unsigned integer type, got " + std::string(name(d)));
  const Key k = key_of(key, s);
  return convert(d == DType::u64 ? bits64(k, shape, s) : bits32(k, shape, s), d, s);
}

Handle uniform(const Operand& key, const Operand& low, const Operand& high, DType d, const Shape& shape, Location at) {
  const Site s{"random::uniform", at};
  check_floating(d, s);
  return uniform(key_of(key, s), d, shape, value_fitting(low, d, s), value_fitting(high, d, s), s);
}

Handle uniform(const Operand& key, DType d, const Shape& shape, Location at) {
  const Site s{"random::uniform", at};
  check_floating(d, s);
  return uniform(key_of(key, s), d, shape, s);
}

}  // namespace calque::detail::ops::random
