#pragma once
// What the distributions share: keys as two words, numbered elements, bits and uniform numbers. All is computed as JAX
// 0.10 computes it with partitionable Threefry, so bits are equal to JAX's, and numbers up to the rounding of functions
// such as log and erfinv.
#include "frontend/ops/common.h"

namespace calque::detail::ops::random {

/// The two words of a key: scalars, or arrays with a key for each element.
struct Key {
  Handle k0, k1;
};

/// Throws DTypeError unless the operand is of u32, ShapeError unless it has two elements.
Key key_of(const Operand& key, const Site& s);
/// A scalar key as u32[2].
Handle joined(const Key& key, const Site& s);
/// Key number i of those that splitting makes.
Key derived(const Key& key, uint32_t i, const Site& s);

/// The number of each element of a shape, in row-major order, as two words.
struct Counter {
  Handle high, low;
};
Counter counter_of(const Shape& shape, const Site& s);
/// Zero for each element: with a key for each, the first number that every key draws.
Counter first_of(const Shape& shape, const Site& s);
/// A key for each element of a shape: the keys that splitting makes.
Key each_of(const Key& key, const Shape& shape, const Site& s);
/// The key for each element of a shape.
Key repeated(const Key& key, const Shape& shape, const Site& s);

/// Bits of u32 or u64 for each element of a shape.
Handle bits32(const Key& key, const Shape& shape, const Site& s);
Handle bits64(const Key& key, const Shape& shape, const Site& s);

/// Uniform in [0, 1), of a floating-point dtype.
Handle uniform(const Key& key, DType d, const Shape& shape, const Site& s);
Handle uniform(const Key& key, DType d, const Counter& counter, const Site& s);
/// Uniform in [low, high); the bounds are of dtype d and broadcast to the shape.
Handle uniform(const Key& key, DType d, const Counter& counter, Handle low, Handle high, const Site& s);
Handle uniform(const Key& key, DType d, const Shape& shape, Handle low, Handle high, const Site& s);
Handle uniform(const Key& key, DType d, const Shape& shape, double low, double high, const Site& s);
/// Standard normal, of a floating-point dtype.
Handle normal(const Key& key, DType d, const Shape& shape, const Site& s);
Handle normal(const Key& key, DType d, const Counter& counter, const Site& s);

/// Throws DTypeError.
void check_floating(DType d, const Site& s);
void check_integer(DType d, const Site& s);

}  // namespace calque::detail::ops::random
