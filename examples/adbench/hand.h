#pragma once
// ADBench's HAND: how far the skin of a posed hand is from measured points, and the Jacobian by the pose. The skeleton
// is written with Eigen's small matrices, the skin as a function of one vertex that vmap applies to all. In the simple
// problem each measured point belongs to a vertex; in the complicated one to a point of a triangle, whose two
// barycentric coordinates are unknowns too.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "adbench/hand_model.h"
#include "adbench/reader.h"

namespace adbench::hand {

using D = cq::Tracer<double>;
using Vector3 = Eigen::Matrix<D, 3, 1>;
using Matrix3 = Eigen::Matrix<D, 3, 3>;
using Rigid = adbench::Rigid<D>;

/// The rotation about r by the angle |r|; none below 1e-4.
inline Matrix3 rotation(const Vector3& r) {
  const D squared = r.squaredNorm();
  const auto still = squared < 1e-8;
  const D angle = sqrt(where(still, 1.0, squared));  // its derivative is finite everywhere
  const Vector3 axis = r / angle;
  Matrix3 cross;
  cross << D(0.0), -axis[2], axis[1], axis[2], D(0.0), -axis[0], -axis[1], axis[0], D(0.0);
  const D sine = where(still, 0.0, sin(angle)), versine = where(still, 0.0, 1.0 - cos(angle));
  return Matrix3::Identity() + sine * cross + versine * (cross * cross);
}

/// The rotation of a joint, about x: by the flexion, given as cosine and sine.
inline Matrix3 flexed(const D& c, const D& s) {
  const D zero = 0.0, one = 1.0;
  Matrix3 m;
  m << one, zero, zero, zero, c, -s, zero, s, c;
  return m;
}

/// After it about z: by the abduction.
inline Matrix3 abducted(const D& c, const D& s) {
  const D zero = 0.0, one = 1.0;
  Matrix3 m;
  m << c, -s, zero, s, c, zero, zero, zero, one;
  return m;
}

/// A pose: rotation and translation of the whole hand [3], and of each finger [4] the flexion and abduction of the
/// first joint, the flexions of the second and third.
template <class A>
struct Pose {
  A rotation, translation;
  std::array<A, Hand::kFingers> fingers;
};

/// A value for every bone: wrist and forearm in one array, the four bones of each finger in another. A finger's angles
/// move only its bones, so derivatives by them are of four bones and not of all.
template <class A>
struct Bones {
  A outer;
  std::array<A, Hand::kFingers> fingers;
};
/// The indices of the bones in the list of all bones.
inline Bones<std::vector<int32_t>> bone_indices() {
  Bones<std::vector<int32_t>> indices{{0, 4 * Hand::kFingers + 1}, {}};
  for (int32_t f = 0; f < Hand::kFingers; ++f) indices.fingers[f] = {4 * f + 1, 4 * f + 2, 4 * f + 3, 4 * f + 4};
  return indices;
}
/// Applies a function to each part.
template <class F, class A>
auto for_parts(const F& f, const Bones<A>& of) {
  Bones<decltype(f(of.outer))> result{f(of.outer), {}};
  for (size_t i = 0; i < Hand::kFingers; ++i) result.fingers[i] = f(of.fingers[i]);
  return result;
}

/// The transformations of points of the hand at rest by a pose.
template <class A>
struct Posed {
  Bones<A> movements;  // [bones, 3, 4]: rotations and, in the last column, translations
  A turn, shift;       // of the whole hand: [3, 3], [3]
};

inline Posed<D> posed(const std::vector<Bone>& bones, const Pose<D>& pose) {
  std::vector<Rigid> absolute;
  std::vector<D> movements;
  Eigen::Matrix<D, 4, 1> c, s;
  for (size_t i = 0; i < bones.size(); ++i) {
    Rigid bone = bones[i].base.cast<D>();
    const size_t finger = (i - 1) / 4, joint = (i - 1) % 4;
    if (i > 0 && finger < Hand::kFingers) {  // neither wrist nor forearm
      if (joint == 0) {
        c = cos(pose.fingers[finger]);
        s = sin(pose.fingers[finger]);
      }
      const Eigen::Index angle = joint == 1 ? 0 : static_cast<Eigen::Index>(joint);
      if (joint == 1) bone.rotation = bone.rotation * abducted(c[1], s[1]);
      if (joint >= 1) bone.rotation = bone.rotation * flexed(c[angle], s[angle]);
    }
    absolute.push_back(bones[i].parent < 0 ? bone : absolute[static_cast<size_t>(bones[i].parent)] * bone);
    const Rigid moved = absolute.back() * bones[i].inverse.cast<D>();
    Eigen::Matrix<D, 3, 4> movement;
    movement << moved.rotation, moved.translation;
    movements.push_back(D(movement));
  }
  const auto stacked = [&](const std::vector<int32_t>& indices) {
    std::vector<D> part;
    for (const int32_t index : indices) part.push_back(movements[static_cast<size_t>(index)]);
    return cq::stack(part, 0);
  };
  return {for_parts(stacked, bone_indices()), D(rotation(Vector3(pose.rotation))), pose.translation};
}

/// One vertex, already moved by its bones, moved with the whole hand.
inline const auto kVertex = [](auto turn, auto shift, auto vertex) {
  return Vector3(Matrix3(turn) * Vector3(vertex) + Vector3(shift));
};

/// Points of the hand at rest: their weights for each bone [bones, N] and their positions [4, N], as (x, y, z, 1). For
/// the corners of triangles: [3, bones, N] and [3, 4, N].
template <class A>
struct AtRest {
  Bones<A> weights;
  A positions;
};

/// The points of the posed hand [3, N] for `rest` [bones, 4, N], the position of each at rest times each bone's weight.
/// Points are along the last dimension here and in all results, so that operations on points are vectorized.
inline D skin(const Posed<D>& hand, const Bones<D>& rest) {
  const auto moved = [](const auto& movements, const auto& at) { return tensordot(movements, at, {0, 2}, {0, 1}); };
  D blended = moved(hand.movements.outer, rest.outer);
  for (size_t i = 0; i < Hand::kFingers; ++i) blended += moved(hand.movements.fingers[i], rest.fingers[i]);
  return cq::vmap(kVertex, {.in_axes = {cq::none, cq::none, 1}, .out_axes = {1}})(hand.turn, hand.shift, blended);
}

/// The argument `rest` of `skin`, for vertices.
inline Bones<D> of_vertices(const AtRest<cq::Array<double>>& at) {
  return for_parts([&](const auto& weights) { return D(expand_dims(weights, 1)) * at.positions; }, at.weights);
}

/// The weights of a triangle's corners in the point with barycentric coordinates u [2, N].
inline std::array<D, 3> shares(const D& u) { return {u[0], u[1], 1.0 - u[0] - u[1]}; }

/// Points with barycentric coordinates u in triangles, from the positions of all vertices [3, V] and the indices of the
/// corners [3, N].
inline D on_triangles(const D& vertices, const cq::Array<int32_t>& corners, const D& u) {
  D sum;
  for (int64_t c = 0; c < 3; ++c) {
    const D corner = take(vertices, corners[c], 1) * shares(u)[static_cast<size_t>(c)];
    sum = c == 0 ? corner : sum + corner;
  }
  return sum;
}

/// The same for the argument `rest` of `skin`, from corners at rest: a point of a posed triangle is a posed point of
/// the triangle at rest.
inline Bones<D> on_triangles(const AtRest<cq::Array<double>>& corners, const D& u) {
  return for_parts(
      [&](const auto& weights) {
        D sum;
        for (int64_t c = 0; c < 3; ++c) {
          const D position = D(corners.positions)[c] * shares(u)[static_cast<size_t>(c)];
          const D corner = expand_dims(D(weights)[c], 1) * position;
          sum = c == 0 ? corner : sum + corner;
        }
        return sum;
      },
      corners.weights);
}

/// The measurements, N points; in the complicated problem they are on triangles, else they are vertices.
struct Problem {
  std::vector<Bone> bones;
  bool complicated = false;
  AtRest<cq::Array<double>> rest;        // of the measured vertices; in the complicated problem of all
  AtRest<cq::Array<double>> at_corners;  // of the corners of the triangles
  cq::Array<int32_t> corners;            // [3, N]
  bool shared = false;                   // several points of the simple problem belong to one vertex of `rest`
  cq::Array<int32_t> vertices;  // [N]: the vertex of each point if `shared`; else `rest` has one for each point
  cq::Array<double> points, barycentric;  // [3, N], [2, N]
  Pose<cq::Array<double>> pose;
};

/// The errors [3, N] of the simple problem.
inline auto simple_errors(const Problem& problem) {
  return [bones = problem.bones, rest = problem.rest, shared = problem.shared, vertices = problem.vertices](
             const auto& pose, auto points) {
    const D posed_vertices = skin(posed(bones, pose), of_vertices(rest));
    return points - (shared ? take(posed_vertices, vertices, 1) : posed_vertices);
  };
}

/// The errors [3, N] of the complicated problem.
inline auto complicated_errors(const Problem& problem) {
  return [bones = problem.bones, rest = problem.rest, corners = problem.corners](const auto& pose, auto points,
                                                                                 auto barycentric) {
    return points - on_triangles(skin(posed(bones, pose), of_vertices(rest)), corners, barycentric);
  };
}

/// Derivatives [3, N, k] as the columns of a Jacobian, one after the other: [k, 3, N].
inline D columns(const D& derivative) { return transpose(derivative, {2, 0, 1}); }
inline D columns(const Pose<D>& by) {
  std::vector<D> parts{columns(by.rotation), columns(by.translation)};
  for (const D& finger : by.fingers) parts.push_back(columns(finger));
  return cq::concatenate(parts, 0);
}

/// The Jacobian of the simple problem, column by column: [26, 3, N].
inline auto simple_jacobian(const Problem& problem) {
  return [errors = simple_errors(problem)](const auto& pose, auto points) {
    return columns(cq::jacfwd(errors)(pose, points));
  };
}

/// The Jacobian of the complicated problem, column by column: [28, 3, N], by each point's barycentric coordinates, then
/// by the pose. The derivative by the pose poses points and not corners, which takes a third of the time of all
/// corners.
inline auto complicated_jacobian(const Problem& problem) {
  return [errors = complicated_errors(problem), bones = problem.bones, corners = problem.at_corners](
             const auto& pose, auto points, auto barycentric) {
    // A point does not depend on the coordinates of others, so one tangent is enough for all points.
    const auto by_coordinate = [&](auto tangent) {
      const auto of_coordinates = [&](auto u) { return errors(pose, points, u); };
      return cq::jvp(of_coordinates, std::tuple{barycentric}, std::tuple{broadcast_to(tangent, barycentric.shape())})
          .second;
    };
    auto by_coordinates = cq::vmap(by_coordinate)(D(cq::Array<double>{{{1}, {0}}, {{0}, {1}}}));
    const auto of_pose = [&](const auto& p) {
      return points - skin(posed(bones, p), on_triangles(corners, barycentric));
    };
    return cq::concatenate({by_coordinates, columns(cq::jacfwd(of_pose)(pose))}, 0);
  };
}

/// The data at rest of these vertices [N], or corners [3, N].
inline AtRest<cq::Array<double>> at_rest(const Hand& hand, const cq::Array<int32_t>& vertices) {
  const auto ones = cq::Array<double>::ones({hand.vertices.shape()[0], 1});
  const auto along = [](const auto& x) { return einsum("...nk->...kn", x); };
  const auto weights = take(hand.weights, vertices, 0);
  const auto part = [&](const std::vector<int32_t>& bones) {
    const auto indices = cq::Array<int32_t>::from(bones, cq::Shape{static_cast<int64_t>(bones.size())});
    return cq::Array<double>(along(take(weights, indices, -1)));
  };
  return {for_parts(part, bone_indices()), along(take(cq::concatenate({hand.vertices, ones}, 1), vertices, 0))};
}

/// Points of the simple problem are vertices. If most vertices are measured more than once, each is posed once.
inline void measure_vertices(Problem& problem, const Hand& hand, const cq::Array<int32_t>& vertices) {
  const std::span<const int32_t> all = vertices.host();
  std::vector<int32_t> distinct(all.begin(), all.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  problem.shared = 2 * distinct.size() <= all.size();
  if (!problem.shared) {
    problem.rest = at_rest(hand, vertices);
    return;
  }
  std::vector<int32_t> number;
  for (const int32_t vertex : all) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), vertex);
    number.push_back(static_cast<int32_t>(at - distinct.begin()));
  }
  problem.vertices = cq::Array<int32_t>::from(number, vertices.shape());
  const auto count = static_cast<int64_t>(distinct.size());
  problem.rest = at_rest(hand, cq::Array<int32_t>::from(distinct, cq::Shape{count}));
}

/// Sets the vertices [N], or corners of triangles [3, N], that are measured.
inline void measure(Problem& problem, const Hand& hand, const cq::Array<int32_t>& vertices) {
  if (!problem.complicated) {
    measure_vertices(problem, hand, vertices);
    return;
  }
  problem.corners = vertices;
  problem.at_corners = at_rest(hand, vertices);
  std::vector<int32_t> all(static_cast<size_t>(hand.vertices.shape()[0]));
  std::iota(all.begin(), all.end(), 0);
  problem.rest = at_rest(hand, cq::Array<int32_t>::from(all, cq::Shape{hand.vertices.shape()[0]}));
}

inline Problem read(const std::string& path) {
  constexpr int64_t kPose = 26;
  Reader file(path);
  Problem problem;
  const int64_t n = file.integer("N, the number of points", 1);
  file.integer("the size of the pose", kPose, kPose);
  const int64_t simple = file.expect("the points", {n, 4}) + kPose, complicated = simple + 2 * n;
  if (file.left() != simple && file.left() != complicated) {
    file.fail("expected " + std::to_string(simple) + " numbers (" + std::to_string(complicated) +
              " in a complicated problem) to follow, got " + std::to_string(file.left()));
  }
  problem.complicated = file.left() == complicated;
  const Hand hand = read_hand((std::filesystem::path(path).parent_path() / "model").string());
  problem.bones = hand.bones;

  const int64_t choices = problem.complicated ? hand.triangles.shape()[0] : hand.vertices.shape()[0];
  std::vector<int32_t> correspondences;
  std::vector<double> points;
  for (int64_t i = 0; i < n; ++i) {
    correspondences.push_back(static_cast<int32_t>(file.integer("a correspondence", 0, choices - 1)));
    for (int k = 0; k < 3; ++k) points.push_back(file.number("a point"));
  }
  problem.points = transpose(cq::Array<double>::from(points, cq::Shape{n, 3}));
  auto vertices = cq::Array<int32_t>::from(correspondences, cq::Shape{n});
  if (problem.complicated) vertices = transpose(take(hand.triangles, vertices, 0));
  measure(problem, hand, vertices);
  if (problem.complicated) problem.barycentric = transpose(file.numbers("the barycentric coordinates", {n, 2}));
  problem.pose.rotation = file.numbers("the pose", {3});
  problem.pose.translation = file.numbers("the pose", {3});
  for (auto& finger : problem.pose.fingers) finger = file.numbers("the pose", {Hand::kJoints});
  file.finish();
  return problem;
}

}  // namespace adbench::hand
