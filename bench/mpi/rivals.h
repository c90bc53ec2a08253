// The tasks with plain MPI. Buffers are the caller's; all ranks call.
#pragma once

#include <cstdint>

#include <mpi.h>

/// `calls` times the mean of `count` numbers over the ranks: x in, `out` out.
void raw_means(MPI_Comm comm, const double* x, double* out, double* spare, int count, int calls);

/// The sum of the x of all ranks.
void raw_sum(MPI_Comm comm, const double* x, double* out, int count);

inline constexpr double kDiffusion = 0.2;

/// Explicit steps of the heat equation in `rows` x n cells of a square that is cut into strips of rows, one for each
/// rank, with zeros around it. `from` and `to` are [rows, n]; `a` and `b` are [rows + 2, n + 2].
void raw_heat(MPI_Comm comm, const double* from, double* to, double* a, double* b, int64_t rows, int64_t n,
              int64_t steps);
/// The same; the rows that need nothing from other ranks are computed while the messages travel.
void raw_heat_overlapped(MPI_Comm comm, const double* from, double* to, double* a, double* b, int64_t rows, int64_t n,
                         int64_t steps);
