// Processes one observation at a time; the Jacobian of a projection is the chain rule written out.
#include <cmath>

#include "adbench/adbench.h"

namespace {

/// y = rotate(r, v) with R[i][j] = dy_i / dv_j and, when Derivative is set, by_r[i][j] = dy_i / dr_j.
template <bool Derivative>
void rotate(const double* r, const double* v, double* y, double (*rotation)[3], double (*by_r)[3]) {
  double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  double cosine = 1, across = 1, along = 0.5;                      // y = cosine v + across (r x v) + along (r . v) r
  double d_cosine = -1, d_across = -1.0 / 3, d_along = -1.0 / 12;  // their derivatives by |r|, over |r|
  if (square > 0) {
    double angle = std::sqrt(square), sine = std::sin(angle);
    cosine = std::cos(angle);
    across = sine / angle;
    along = (1 - cosine) / square;
    d_cosine = -across;
    d_across = (cosine - across) / square;
    d_along = (across - 2 * along) / square;
  }
  double dot = r[0] * v[0] + r[1] * v[1] + r[2] * v[2];
  double cross[3] = {r[1] * v[2] - r[2] * v[1], r[2] * v[0] - r[0] * v[2], r[0] * v[1] - r[1] * v[0]};
  for (int i = 0; i < 3; ++i) y[i] = cosine * v[i] + across * cross[i] + along * dot * r[i];
  if constexpr (!Derivative) return;
  double skew_r[3][3] = {{0, -r[2], r[1]}, {r[2], 0, -r[0]}, {-r[1], r[0], 0}};
  double skew_v[3][3] = {{0, v[2], -v[1]}, {-v[2], 0, v[0]}, {v[1], -v[0], 0}};
  for (int i = 0; i < 3; ++i) {
    double radial = d_cosine * v[i] + d_across * cross[i] + d_along * dot * r[i];
    for (int j = 0; j < 3; ++j) {
      double same = i == j ? 1 : 0;
      rotation[i][j] = cosine * same + across * skew_r[i][j] + along * r[i] * r[j];
      by_r[i][j] = radial * r[j] + across * skew_v[i][j] + along * (v[j] * r[i] + dot * same);
    }
  }
}

struct Seen {
  const double *camera, *point, *feature;
  double weight;
};

Seen seen(const BaProblem& p, int64_t i) {
  return {p.cameras + 11 * (i % p.n), p.points + 3 * (i % p.m), p.features + 2 * i, p.weights[i]};
}

/// A row of 15 for each of the two residuals: camera (11), point (3), weight.
void jacobian(const Seen& o, double* row) {
  const double* c = o.camera;
  double v[3] = {o.point[0] - c[3], o.point[1] - c[4], o.point[2] - c[5]}, y[3], rotation[3][3], by_r[3][3];
  rotate<true>(c, v, y, rotation, by_r);
  double inverse = 1 / y[2], p[2] = {y[0] * inverse, y[1] * inverse}, s = p[0] * p[0] + p[1] * p[1];
  double distortion = 1 + s * (c[9] + s * c[10]), slope = c[9] + 2 * s * c[10];
  for (int e = 0; e < 2; ++e, row += 15) {
    // By p: distortion on the diagonal and 2 slope p p^T; then by y.
    double a = o.weight * c[6], by_p[2] = {2 * a * slope * p[e] * p[0], 2 * a * slope * p[e] * p[1]};
    by_p[e] += a * distortion;
    double by_y[3] = {by_p[0] * inverse, by_p[1] * inverse, -(by_p[0] * p[0] + by_p[1] * p[1]) * inverse};
    for (int j = 0; j < 3; ++j) {
      row[j] = by_y[0] * by_r[0][j] + by_y[1] * by_r[1][j] + by_y[2] * by_r[2][j];
      row[11 + j] = by_y[0] * rotation[0][j] + by_y[1] * rotation[1][j] + by_y[2] * rotation[2][j];
      row[3 + j] = -row[11 + j];
    }
    row[6] = o.weight * distortion * p[e];
    row[7] = e == 0 ? o.weight : 0;
    row[8] = e == 1 ? o.weight : 0;
    row[9] = a * s * p[e];
    row[10] = a * s * s * p[e];
    row[14] = c[6] * distortion * p[e] + c[7 + e] - o.feature[e];
  }
}

}  // namespace

void ba_plain(const BaProblem& p, double* residuals, double* weight_errors) {
  for (int64_t i = 0; i < p.p; ++i) {
    Seen o = seen(p, i);
    const double* c = o.camera;
    double v[3] = {o.point[0] - c[3], o.point[1] - c[4], o.point[2] - c[5]}, y[3];
    rotate<false>(c, v, y, nullptr, nullptr);
    double u[2] = {y[0] / y[2], y[1] / y[2]}, s = u[0] * u[0] + u[1] * u[1];
    double scale = c[6] * (1 + s * (c[9] + s * c[10]));
    for (int e = 0; e < 2; ++e) residuals[2 * i + e] = o.weight * (scale * u[e] + c[7 + e] - o.feature[e]);
    weight_errors[i] = 1 - o.weight * o.weight;
  }
}

void ba_jacobian_plain(const BaProblem& p, double* values) {
  for (int64_t i = 0; i < p.p; ++i) jacobian(seen(p, i), values + 30 * i);
  for (int64_t i = 0; i < p.p; ++i) values[30 * p.p + i] = -2 * p.weights[i];
}
