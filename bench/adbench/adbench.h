// Case 21: the four problems of ADBench. The rivals' derivatives are derived by hand.
#pragma once

#include <cstdint>
#include <vector>

/// K Gaussians in D dimensions and N points. `factors`: K rows of D logarithms of Q's diagonal, then what is below it
/// column by column. `constant` is what does not depend on the mixture.
struct GmmProblem {
  int64_t d, k, n;
  const double *alpha, *means, *factors, *points;
  double gamma, m, constant;
};
double gmm_plain(const GmmProblem& p);
/// The value; `gradient` is by alpha, means and factors, one after the other.
double gmm_gradient_plain(const GmmProblem& p, double* gradient);
/// The same with eight points at a time, one a lane.
double gmm_lanes(const GmmProblem& p);
double gmm_gradient_lanes(const GmmProblem& p, double* gradient);

/// n cameras of 11 numbers, m points of 3, p observations: of camera i mod n, point i mod m.
struct BaProblem {
  int64_t n, m, p;
  const double *cameras, *points, *weights, *features;
};
void ba_plain(const BaProblem& p, double* residuals, double* weight_errors);
/// The nonzeros: 30 for each observation, then one for each weight error.
void ba_jacobian_plain(const BaProblem& p, double* values);

/// l layers, a sequence of c rows of b numbers. `layers`: for each layer 4 b weights, then 4 b biases (forget, in, out,
/// change). `extra`: input weight, output weight, output bias. `start`: for each layer hidden, then cell.
struct LstmProblem {
  int64_t l, c, b;
  const double *layers, *extra, *start, *sequence;
};
double lstm_plain(const LstmProblem& p);
/// The value; `gradient` is by `layers`, then by `extra`.
double lstm_gradient_plain(const LstmProblem& p, double* gradient);

/// A hand: bones with parents, base transforms and inverses (12 numbers each, 3 rows of 4); vertices, of which vertex v
/// follows the bones `bone[i]` by `weight[i]` for i from first[v] to first[v + 1]. N measured points, each with a
/// vertex, or with the three corners of a triangle and a place on it.
struct HandProblem {
  int64_t bones, vertices, n;
  const int* parents;
  const double *bases, *inverses, *positions;
  const int64_t* first;
  const int* bone;
  const double* weight;
  const int32_t* corners;  // N, or 3 N when there are places
  const double *points, *places, *pose;
};
void hand_plain(const HandProblem& p, double* errors);
/// Column by column: 2 by the places, when there are any, then 26 by the pose.
void hand_jacobian_plain(const HandProblem& p, double* jacobian);
