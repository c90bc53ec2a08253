#pragma once
// Rows of keys of every kind, and the primitive `sort` of them on every device.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "compile/executable.h"
#include "primitives/list.h"
#include "reference/evaluate.h"
#include "runtime/call/device_dispatch.h"
#include "runtime/process/environment.h"
#include "support/random/random.h"

namespace calque::test {

enum class Data { random, ties, constant, sorted, reversed, one_digit, special };
inline constexpr Data kAllData[] = {Data::random,   Data::ties,      Data::constant, Data::sorted,
                                    Data::reversed, Data::one_digit, Data::special};
inline constexpr DType kOrdered[] = {DType::bool_, DType::i8,  DType::i16, DType::i32, DType::i64,
                                     DType::u8,    DType::u16, DType::u32, DType::u64, DType::f16,
                                     DType::bf16,  DType::f32, DType::f64};

/// Elements of any bits in rows [rows, n]; `special` has NaNs of several bits, zeros of both signs and infinities.
inline AnyArray keys_of(DType dtype, int64_t rows, int64_t n, Data data, Rng& rng) {
  AnyArray out = primitives::make_array({dtype, {rows, n}});
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!is_complex(dtype_of<T>)) {
      T* const to = static_cast<T*>(out.mutable_data());
      for (int64_t i = 0; i < rows * n; ++i) {
        const int64_t column = i % n;
        uint64_t bits = rng.next();
        const auto number = [](auto x) {
          if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(x);  // wraps
          } else {
            return static_cast<T>(static_cast<float>(x));
          }
        };
        if (data == Data::random) {
          if constexpr (std::is_same_v<T, bool>) bits &= 1;
          std::memcpy(static_cast<void*>(to + i), &bits, sizeof(T));
        } else if (data == Data::ties) {
          to[i] = number(bits % 5);
        } else if (data == Data::constant) {
          to[i] = number(1);
        } else if (data == Data::sorted) {
          to[i] = number(column);
        } else if (data == Data::reversed) {
          to[i] = number(n - column);
        } else if (data == Data::one_digit || !is_floating(dtype_of<T>)) {
          to[i] = number(64 + bits % 64);
        } else {
          // NaNs of both signs with different bits, infinities, zeros of both signs, the least numbers.
          if constexpr (is_floating(dtype_of<T>)) {
            const float kNumbers[] = {0.0F,
                                      -0.0F,
                                      1.0F,
                                      -1.0F,
                                      std::numeric_limits<float>::infinity(),
                                      -std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::quiet_NaN()};
            const uint64_t which = bits % 8;
            if (which == 7) {
              // The sign and the lowest bit of a NaN vary.
              to[i] = number(std::numeric_limits<float>::quiet_NaN());
              uint64_t own = 0;
              std::memcpy(&own, to + i, sizeof(T));
              own ^= (bits >> 8 & 1) | (bits >> 9 & 1) << (8 * sizeof(T) - 1);
              std::memcpy(static_cast<void*>(to + i), &own, sizeof(T));
            } else {
              to[i] = number(kNumbers[which]);
            }
          }
        }
      }
    }
  });
  return out;
}

struct SortOf {
  bool descending = false, indices = true, values = true;
  int64_t limit = -1;
};

inline Graph sort_graph(const std::vector<AnyArray>& keys, const SortOf& form) {
  Graph g;
  ValueList operands;
  for (const AnyArray& k : keys) operands.push_back(g.add_input(k.type()));
  const Shape& shape = keys[0].shape();
  const Equation& e = g.append(primitives::get<primitives::Sort>(), std::move(operands),
                               {{"descending", form.descending},
                                {"indices", form.indices},
                                {"limit", form.limit < 0 ? shape[shape.size() - 1] : form.limit},
                                {"values", form.values}},
                               {}, Location());
  g.set_outputs(ValueList(e.results()));
  return g;
}

inline std::vector<AnyArray> run_on(Device device, const Graph& graph, const std::vector<AnyArray>& inputs) {
  std::vector<const AnyArray*> pointers;
  std::vector<runtime::Strides> strides;
  for (const AnyArray& input : inputs) {
    pointers.push_back(&input);
    strides.push_back(row_major_strides(input.shape()));
  }
  runtime::CompileOptions options;
  options.device = device;
  const auto executable = runtime::find_executable(graph, strides, options);
  if (device == cpu()) return runtime::execute(*executable, pointers);
  return runtime::execute_on_device(*executable, pointers, device);
}

inline bool same_bits(const std::vector<AnyArray>& a, const std::vector<AnyArray>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type() != b[i].type()) return false;
    if (a[i].bytes() != 0 && std::memcmp(a[i].data(), b[i].data(), static_cast<size_t>(a[i].bytes())) != 0)
      return false;
  }
  return true;
}

}  // namespace calque::test
