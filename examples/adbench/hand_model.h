#pragma once
// The model of ADBench's HAND: bones, and a skin of vertices that follow them.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <calque/calque.h>
#include <calque/eigen.h>

#include "adbench/reader.h"

namespace adbench {

/// x -> rotation x + translation; of doubles or of tracers.
template <class S>
struct Rigid {
  Eigen::Matrix<S, 3, 3> rotation;
  Eigen::Matrix<S, 3, 1> translation;

  friend Rigid operator*(const Rigid& a, const Rigid& b) {
    return {a.rotation * b.rotation, a.rotation * b.translation + a.translation};
  }
  template <class T>
  Rigid<T> cast() const {
    return {rotation.template cast<T>(), translation.template cast<T>()};
  }
};

/// One bone of the skeleton.
struct Bone {
  int parent;             // -1: none
  Rigid<double> base;     // its position in its parent's frame when the hand is at rest
  Rigid<double> inverse;  // from the frame of the hand at rest into the bone's
};

/// The hand at rest.
struct Hand {
  static constexpr int kFingers = 5, kJoints = 4;  // joints of one finger, each with its bone
  std::vector<Bone> bones;                         // wrist, thumb1 ... pinky4, forearm
  cq::Array<double> vertices;                      // [V, 3]
  cq::Array<double> weights;                       // [V, bones]: weight of each bone in the movement of a vertex
  cq::Array<int32_t> triangles;                    // [T, 3]
};

/// Reads 4 rows of 4 numbers.
inline Rigid<double> read_rigid(Reader& file, const std::string& what) {
  Eigen::Matrix4d m;
  for (int i = 0; i < 16; ++i) m(i / 4, i % 4) = file.number(what);
  if (m.row(3) != Eigen::RowVector4d(0, 0, 0, 1)) file.fail("expected " + what + " with a last row of 0 0 0 1");
  return {m.topLeftCorner<3, 3>(), m.topRightCorner<3, 1>()};
}

inline std::vector<Bone> read_bones(const std::string& path) {
  Reader file(path, " \t\r:");
  std::vector<Bone> bones;
  while (file.left() > 0) {
    file.word("a bone's name");
    const auto parent = static_cast<int>(file.integer("a bone's parent", -1, static_cast<int64_t>(bones.size()) - 1));
    auto base = read_rigid(file, "a bone's base"), inverse = read_rigid(file, "the inverse of a bone's base");
    bones.push_back({parent, base, inverse});
  }
  constexpr int kBones = 2 + Hand::kFingers * Hand::kJoints;
  if (bones.size() != kBones) {
    file.fail("expected " + std::to_string(kBones) + " bones, got " + std::to_string(bones.size()));
  }
  return bones;
}

/// Positions, and weights of the bones.
inline void read_vertices(const std::string& path, Hand& hand) {
  Reader file(path, " \t\r:");
  const auto bones = static_cast<int64_t>(hand.bones.size());
  std::vector<double> positions, weights;
  while (file.left() > 0) {
    for (int i = 0; i < 3; ++i) positions.push_back(file.number("a vertex"));
    for (int i = 0; i < 5; ++i) file.number("a vertex");
    std::vector<double> row(hand.bones.size());
    for (int64_t pairs = file.integer("a number of weights", 0); pairs > 0; --pairs) {
      const auto bone = static_cast<size_t>(file.integer("a bone", 0, bones - 1));
      row[bone] += file.number("a weight");
    }
    weights.insert(weights.end(), row.begin(), row.end());
  }
  const auto count = static_cast<int64_t>(positions.size()) / 3;
  if (count == 0) file.fail("expected a vertex, the file is empty");
  hand.vertices = cq::Array<double>::from(positions, cq::Shape{count, 3});
  hand.weights = cq::Array<double>::from(weights, cq::Shape{count, bones});
}

/// Reads bones.txt, vertices.txt and triangles.txt from a directory.
inline Hand read_hand(const std::string& folder) {
  Hand hand;
  hand.bones = read_bones(folder + "/bones.txt");
  read_vertices(folder + "/vertices.txt", hand);
  Reader file(folder + "/triangles.txt", " \t\r:");
  std::vector<int32_t> corners;
  while (file.left() > 0) {
    corners.push_back(static_cast<int32_t>(file.integer("a triangle's vertex", 0, hand.vertices.shape()[0] - 1)));
  }
  if (corners.empty() || corners.size() % 3 != 0) file.fail("expected three vertices in every triangle");
  hand.triangles = cq::Array<int32_t>::from(corners, cq::Shape{static_cast<int64_t>(corners.size()) / 3, 3});
  return hand;
}

}  // namespace adbench
