// Bones first, each with its derivatives with respect to the four angles of its finger, which are all that it depends
// on; then every required vertex, once.
#include <array>
#include <cmath>
#include <vector>

#include "adbench/adbench.h"

namespace {

using Matrix = std::array<double, 12>;  // 3 rows of 4; the fourth row is 0 0 0 1, or 0 0 0 0 in derivatives
using Rotation = std::array<double, 9>;

Matrix product(const Matrix& a, const Matrix& b, double last = 1) {
  Matrix c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      c[4 * i + j] =
          a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] + (j == 3 ? last * a[4 * i + 3] : 0);
  return c;
}

Matrix rotated(const Matrix& a, const Rotation& r) {
  Matrix c = a;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c[4 * i + j] = a[4 * i] * r[j] + a[4 * i + 1] * r[3 + j] + a[4 * i + 2] * r[6 + j];
  return c;
}

Matrix rotated(const Rotation& r, const Matrix& a) {
  Matrix c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) c[4 * i + j] = r[3 * i] * a[j] + r[3 * i + 1] * a[4 + j] + r[3 * i + 2] * a[8 + j];
  return c;
}

/// The derivative of a rotation has no translation.
Matrix rotated_derivative(const Matrix& a, const Rotation& r) {
  Matrix c = rotated(a, r);
  c[3] = c[7] = c[11] = 0;
  return c;
}

Rotation about_x(double angle) {
  double c = std::cos(angle), s = std::sin(angle);
  return {1, 0, 0, 0, c, -s, 0, s, c};
}
Rotation about_x_derivative(double angle) {
  double c = std::cos(angle), s = std::sin(angle);
  return {0, 0, 0, 0, -s, -c, 0, c, -s};
}

/// Rz(abduction) Rx(flexion) and its derivatives.
void first_joint(double flexion, double abduction, Rotation& r, Rotation& by_flexion, Rotation& by_abduction) {
  double c = std::cos(flexion), s = std::sin(flexion), ca = std::cos(abduction), sa = std::sin(abduction);
  r = {ca, -sa * c, sa * s, sa, ca * c, -ca * s, 0, s, c};
  by_flexion = {0, sa * s, sa * c, 0, -ca * s, -ca * c, 0, c, -s};
  by_abduction = {-sa, -ca * c, ca * s, ca, -sa * c, sa * s, 0, 0, 0};
}

/// The rotation about r and its three derivatives; the identity below 1e-4.
void axis_angle(const double* r, Rotation& rotation, Rotation* by) {
  rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int j = 0; j < 3; ++j) by[j] = {};
  double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  if (square < 1e-8) return;
  double angle = std::sqrt(square), cosine = std::cos(angle), across = std::sin(angle) / angle;
  double along = (1 - cosine) / square, d_across = (cosine - across) / square, d_along = (across - 2 * along) / square;
  const Rotation skew = {0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0};
  constexpr Rotation kSkew[3] = {
      {0, 0, 0, 0, 0, -1, 0, 1, 0}, {0, 0, 1, 0, 0, 0, -1, 0, 0}, {0, -1, 0, 1, 0, 0, 0, 0, 0}};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      double same = i == k ? 1 : 0;
      rotation[3 * i + k] = cosine * same + across * skew[3 * i + k] + along * r[i] * r[k];
      for (int j = 0; j < 3; ++j) {
        double products = (i == j ? r[k] : 0) + (k == j ? r[i] : 0);
        by[j][3 * i + k] = r[j] * (-across * same + d_across * skew[3 * i + k] + d_along * r[i] * r[k]) +
                           across * kSkew[j][3 * i + k] + along * products;
      }
    }
  }
}

/// Transforms of the bones from the rest pose, before and after the global rotation, and (after it) their derivatives
/// with respect to the finger's angles.
struct Posed {
  Rotation rotation, by_rotation[3];
  std::vector<Matrix> local, global;
  std::vector<std::array<Matrix, 4>> by_angle;
};

template <bool Derivative>
Posed pose_bones(const HandProblem& p) {
  Posed out;
  axis_angle(p.pose, out.rotation, out.by_rotation);
  std::vector<Matrix> absolute(size_t(p.bones));
  std::vector<std::array<Matrix, 4>> by(Derivative ? size_t(p.bones) : 0);  // of the absolute transforms
  out.by_angle = by;
  for (int64_t b = 0; b < p.bones; ++b) {
    Matrix base, inverse;
    for (size_t i = 0; i < 12; ++i) {
      base[i] = p.bases[12 * b + int64_t(i)];
      inverse[i] = p.inverses[12 * b + int64_t(i)];
    }
    int64_t finger = (b - 1) / 4, joint = (b - 1) % 4, parent = p.parents[b];
    bool in_finger = b > 0 && finger < 5;
    const double* angles = p.pose + 6 + 4 * finger;
    Matrix relative = base;
    std::array<Matrix, 4> own = {};
    if (in_finger && joint == 1) {
      Rotation r, by_flexion, by_abduction;
      first_joint(angles[0], angles[1], r, by_flexion, by_abduction);
      relative = rotated(base, r);
      own[0] = rotated_derivative(base, by_flexion);
      own[1] = rotated_derivative(base, by_abduction);
    } else if (in_finger && joint >= 2) {
      relative = rotated(base, about_x(angles[joint]));
      own[size_t(joint)] = rotated_derivative(base, about_x_derivative(angles[joint]));
    }
    absolute[size_t(b)] = parent < 0 ? relative : product(absolute[size_t(parent)], relative);
    out.local.push_back(product(absolute[size_t(b)], inverse));
    out.global.push_back(rotated(out.rotation, out.local.back()));
    if (!Derivative || !in_finger) continue;
    for (int64_t a = 0; a < 4; ++a) {
      if (joint == 0 || (joint == 1 ? a > 1 : a > joint)) continue;
      bool is_own = joint == 1 || a == joint;
      Matrix& d = by[size_t(b)][size_t(a)];
      d = is_own ? (parent < 0 ? own[size_t(a)] : product(absolute[size_t(parent)], own[size_t(a)], 0))
                 : product(by[size_t(parent)][size_t(a)], relative);
      out.by_angle[size_t(b)][size_t(a)] = rotated(out.rotation, product(d, inverse));
    }
  }
  return out;
}

/// A vertex, and its derivatives: 26 columns of 3.
struct Vertex {
  double at[3];
  double by[26][3];
};

void add(const Matrix& m, double weight, const double* x, double* y) {
  for (int i = 0; i < 3; ++i)
    y[i] += weight * (m[4 * i] * x[0] + m[4 * i + 1] * x[1] + m[4 * i + 2] * x[2] + m[4 * i + 3]);
}

template <bool Derivative>
Vertex vertex(const HandProblem& p, const Posed& posed, int32_t index) {
  Vertex v = {};
  const double* x = p.positions + 3 * index;
  double local[3] = {};
  for (int i = 0; i < 3; ++i) v.at[i] = p.pose[3 + i];
  for (int64_t i = p.first[index]; i < p.first[index + 1]; ++i) {
    int bone = p.bone[i];
    double weight = p.weight[i];
    add(posed.global[size_t(bone)], weight, x, v.at);
    if constexpr (!Derivative) continue;
    add(posed.local[size_t(bone)], weight, x, local);
    int finger = (bone - 1) / 4, joint = (bone - 1) % 4;
    if (bone == 0 || finger >= 5 || joint == 0) continue;
    for (int a = 0; a <= (joint == 1 ? 1 : joint); ++a)
      add(posed.by_angle[size_t(bone)][size_t(a)], weight, x, v.by[6 + 4 * finger + a]);
  }
  if constexpr (Derivative) {
    for (int j = 0; j < 3; ++j) {
      const Rotation& r = posed.by_rotation[j];
      for (int i = 0; i < 3; ++i)
        v.by[j][i] = r[size_t(3 * i)] * local[0] + r[size_t(3 * i + 1)] * local[1] + r[size_t(3 * i + 2)] * local[2];
      v.by[3 + j][j] = 1;
    }
  }
  return v;
}

/// Vertices, computed on first use.
template <bool Derivative>
struct Skin {
  explicit Skin(const HandProblem& problem)
      : p(problem),
        posed(pose_bones<Derivative>(p)),
        vertices(static_cast<size_t>(p.vertices)),
        known(static_cast<size_t>(p.vertices)) {}
  const Vertex& at(int32_t index) {
    if (!known[size_t(index)]) vertices[size_t(index)] = vertex<Derivative>(p, posed, index);
    known[size_t(index)] = 1;
    return vertices[size_t(index)];
  }
  const HandProblem& p;
  Posed posed;
  std::vector<Vertex> vertices;
  std::vector<char> known;
};

/// Calls point(i, corners, shares) with the vertices of each point and their shares in it.
template <bool Derivative, class Point>
void for_each_point(const HandProblem& p, const Point& point) {
  Skin<Derivative> skin(p);
  for (int64_t i = 0; i < p.n; ++i) {
    if (p.barycentric == nullptr) {
      const Vertex* corners[] = {&skin.at(p.corners[i])};
      double shares[] = {1};
      point(i, 1, corners, shares);
    } else {
      const Vertex* corners[] = {&skin.at(p.corners[3 * i]), &skin.at(p.corners[3 * i + 1]),
                                 &skin.at(p.corners[3 * i + 2])};
      double u0 = p.barycentric[2 * i], u1 = p.barycentric[2 * i + 1], shares[] = {u0, u1, 1 - u0 - u1};
      point(i, 3, corners, shares);
    }
  }
}

}  // namespace

void hand_plain(const HandProblem& p, double* errors) {
  for_each_point<false>(p, [&](int64_t i, int count, const Vertex* const* corners, const double* shares) {
    for (int j = 0; j < 3; ++j) {
      double at = 0;
      for (int c = 0; c < count; ++c) at += shares[c] * corners[c]->at[j];
      errors[3 * i + j] = p.points[3 * i + j] - at;
    }
  });
}

void hand_jacobian_plain(const HandProblem& p, double* jacobian) {
  int64_t rows = 3 * p.n;
  double* by_pose = jacobian + (p.barycentric != nullptr ? 2 * rows : 0);
  for_each_point<true>(p, [&](int64_t i, int count, const Vertex* const* corners, const double* shares) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t column = 0; column < 26; ++column) {
        double d = 0;
        for (int c = 0; c < count; ++c) d -= shares[c] * corners[c]->by[column][j];
        by_pose[column * rows + 3 * i + j] = d;
      }
      if (count < 3) continue;
      for (int64_t u = 0; u < 2; ++u) jacobian[u * rows + 3 * i + j] = corners[2]->at[j] - corners[u]->at[j];
    }
  });
}
