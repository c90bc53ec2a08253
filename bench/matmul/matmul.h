// Case 11: c = a b, square, row-major.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

template <class T>
using Product = std::function<void(const T* a, const T* b, T* c)>;

template <class T>
Product<T> matmul_eigen(int64_t n);

template <class T>
Product<T> matmul_openblas(int64_t n);
std::string openblas_version();

/// f32 only.
Product<float> matmul_onednn(int64_t n);
std::string onednn_version();
