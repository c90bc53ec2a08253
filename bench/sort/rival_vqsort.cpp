// The sorter of libhwy_contrib, which chooses the instruction set when it is called.
#include <hwy/contrib/sort/vqsort.h>

#include "sort/sort.h"

namespace {

template <class T>
void sorted(T* x, size_t n) {
  static const hwy::Sorter sorter;
  sorter(x, n, hwy::SortAscending());
}

}  // namespace

void sort_vqsort(float* x, size_t n) { sorted(x, n); }
void sort_vqsort(double* x, size_t n) { sorted(x, n); }
void sort_vqsort(uint64_t* x, size_t n) { sorted(x, n); }
