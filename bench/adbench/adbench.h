// Case 21: the four problems of ADBench. The rivals' derivatives are derived by hand.
#pragma once

#include <cstdint>
#include <vector>

/// K Gaussians in D dimensions and N points. `factors`: K rows with the D logarithms of Q's diagonal, then the entries
/// below it by column. `constant` is the term that does not depend on the mixture.
struct GmmProblem {
  int64_t d, k, n;
  const double *alpha, *means, *factors, *points;
  double gamma, m, constant;
};
double gmm_plain(const GmmProblem& p);
/// Returns the value; `gradient` is with respect to alpha, means and factors, concatenated.
double gmm_gradient_plain(const GmmProblem& p, double* gradient);
/// The same with eight points at a time, one per lane.
double gmm_lanes(const GmmProblem& p);
double gmm_gradient_lanes(const GmmProblem& p, double* gradient);

/// n cameras of 11 numbers, m points of 3, p observations: of camera i mod n, point i mod m.
struct BaProblem {
  int64_t n, m, p;
  const double *cameras, *points, *weights, *features;
};
void ba_plain(const BaProblem& p, double* residuals, double* weight_errors);
/// The nonzeros: 30 per observation, then one per weight error.
void ba_jacobian_plain(const BaProblem& p, double* values);

/// l layers, a sequence of c rows of b numbers. `layers`: for each layer 4 b weights, then 4 b biases (forget, in, out,
/// change). `extra`: input weight, output weight, output bias. `start`: for each layer hidden, then cell.
struct LstmProblem {
  int64_t l, c, b;
  const double *layers, *extra, *start, *sequence;
};
double lstm_plain(const LstmProblem& p);
/// Returns the value; `gradient` is with respect to `layers`, then `extra`.
double lstm_gradient_plain(const LstmProblem& p, double* gradient);

/// A hand: bones with parents, base transforms and inverses (12 numbers each, 3 rows of 4); vertices, of which vertex v
/// follows the bones `bone[i]` by `weight[i]` for i from first[v] to first[v + 1]. N measured points, each with a
/// vertex, or with the three corners of a triangle and barycentric coordinates on it.
struct HandProblem {
  int64_t bones, vertices, n;
  const int* parents;
  const double *bases, *inverses, *positions;
  const int64_t* first;
  const int* bone;
  const double* weight;
  const int32_t* corners;  // N, or 3 N with barycentric coordinates
  const double *points, *barycentric, *pose;
};
void hand_plain(const HandProblem& p, double* errors);
/// By column: 2 with respect to the barycentric coordinates, if present, then 26 with respect to the pose.
void hand_jacobian_plain(const HandProblem& p, double* jacobian);
