// Case 19: the overhead of a call with very little work.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

/// A new array of x[i] * y[i] + x[i].
std::unique_ptr<float[]> small_plain(const float* x, const float* y, size_t n);

/// Buffers of `size` floats that are used again.
class Pool {
 public:
  explicit Pool(size_t size) : size_(size) {}
  size_t size() const { return size_; }
  float* take() {
    if (free_.empty()) return new_buffer();
    float* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void release(float* buffer) { free_.push_back(buffer); }

 private:
  float* new_buffer() { return buffers_.emplace_back(new float[size_]).get(); }

  size_t size_;
  std::vector<std::unique_ptr<float[]>> buffers_;
  std::vector<float*> free_;
};

/// a * x[i] + y[i] in a buffer of the pool.
float* scaled_sum_pooled(Pool& pool, float a, const float* x, const float* y);

using Scalar = double (*)(double, double);

/// x * y + x, behind a pointer and behind std::function.
Scalar scalar_pointer();
std::function<double(double, double)> scalar_function();
