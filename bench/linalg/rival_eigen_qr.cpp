// QR factors of one matrix by Eigen: products of native vectors take the compiler long, so each family has its file.
#include <Eigen/QR>

#include "linalg/linalg.h"

namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

}  // namespace

template <class T>
Run<T> qr_eigen(int64_t n) {
  return [n](const T* a, const T*, T* q, T* r) {
    const Eigen::HouseholderQR<Matrix<T>> factors(Eigen::Map<const Matrix<T>>(a, n, n));
    Eigen::Map<Matrix<T>>(q, n, n) = factors.householderQ();
    Eigen::Map<Matrix<T>>(r, n, n) = factors.matrixQR().template triangularView<Eigen::Upper>();
  };
}

template Run<float> qr_eigen<float>(int64_t);
template Run<double> qr_eigen<double>(int64_t);
