#include <algorithm>
#include <utility>

#include "mpi/rivals.h"

void raw_means(MPI_Comm comm, const double* x, double* out, double* spare, int count, int calls) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  const double part = 1.0 / size;
  std::copy_n(x, count, out);
  for (int k = 0; k < calls; ++k) {
    MPI_Allreduce(out, spare, count, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) out[i] = spare[i] * part;
  }
}

void raw_sum(MPI_Comm comm, const double* x, double* out, int count) {
  MPI_Allreduce(x, out, count, MPI_DOUBLE, MPI_SUM, comm);
}

namespace {

/// Rows `first` to `last` of v.
void update(const double* __restrict u, double* __restrict v, int64_t first, int64_t last, int64_t n) {
  const int64_t m = n + 2;
  for (int64_t i = first; i <= last; ++i) {
    const double* up = u + (i - 1) * m;
    const double* at = u + i * m;
    const double* down = u + (i + 1) * m;
    double* to = v + i * m;
    for (int64_t j = 1; j <= n; ++j)
      to[j] = at[j] + kDiffusion * (up[j] + down[j] + at[j - 1] + at[j + 1] - 4.0 * at[j]);
  }
}

/// Runs the steps, each of which `step` makes from a to b; `above` and `below` are the neighbours.
template <class Step>
void run_heat(MPI_Comm comm, const double* from, double* to, double* a, double* b, int64_t rows, int64_t n,
              int64_t steps, const Step& step) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  const int64_t m = n + 2;
  std::fill_n(a, (rows + 2) * m, 0.0);
  std::fill_n(b, (rows + 2) * m, 0.0);
  for (int64_t i = 0; i < rows; ++i) std::copy_n(from + i * n, n, a + (i + 1) * m + 1);
  for (int64_t k = 0; k < steps; ++k) {
    step(a, b, above, below);
    std::swap(a, b);
  }
  for (int64_t i = 0; i < rows; ++i) std::copy_n(a + (i + 1) * m + 1, n, to + i * n);
}

}  // namespace

void raw_heat(MPI_Comm comm, const double* from, double* to, double* a, double* b, int64_t rows, int64_t n,
              int64_t steps) {
  const int64_t m = n + 2;
  const int count = static_cast<int>(n);
  run_heat(comm, from, to, a, b, rows, n, steps, [=](double* u, double* v, int above, int below) {
    MPI_Sendrecv(u + rows * m + 1, count, MPI_DOUBLE, below, 0, u + 1, count, MPI_DOUBLE, above, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(u + m + 1, count, MPI_DOUBLE, above, 0, u + (rows + 1) * m + 1, count, MPI_DOUBLE, below, 0, comm,
                 MPI_STATUS_IGNORE);
    update(u, v, 1, rows, n);
  });
}

void raw_heat_overlapped(MPI_Comm comm, const double* from, double* to, double* a, double* b, int64_t rows, int64_t n,
                         int64_t steps) {
  const int64_t m = n + 2;
  const int count = static_cast<int>(n);
  run_heat(comm, from, to, a, b, rows, n, steps, [=](double* u, double* v, int above, int below) {
    MPI_Request requests[4];
    MPI_Irecv(u + 1, count, MPI_DOUBLE, above, 0, comm, &requests[0]);
    MPI_Irecv(u + (rows + 1) * m + 1, count, MPI_DOUBLE, below, 0, comm, &requests[1]);
    MPI_Isend(u + rows * m + 1, count, MPI_DOUBLE, below, 0, comm, &requests[2]);
    MPI_Isend(u + m + 1, count, MPI_DOUBLE, above, 0, comm, &requests[3]);
    update(u, v, 2, rows - 1, n);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    update(u, v, 1, 1, n);
    update(u, v, rows, rows, n);
  });
}
