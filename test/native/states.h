#pragma once
// Structs as programs write them, over their scalar or over their leaf type.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque::test {

template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p, v;
  S m;
};
template <class S>
struct Pose {
  Eigen::Matrix<S, 2, 3> r;
  State<S> s;
  std::vector<S> gains;
  std::array<S, 2> ab;
  std::optional<S> extra;
};
template <class S>
struct Fleet {
  std::vector<State<S>> all;
  std::map<std::string, S> named;
  std::optional<Eigen::Matrix<S, Eigen::Dynamic, 1>> last;
  std::tuple<S, Eigen::Matrix<S, 2, 1>> t;
};
template <class S>
struct Kept {
  Eigen::Matrix<S, 3, 1> q;
  int depth;
  std::string name;
  std::vector<int> dims;
  bool on;
  double plain;
};
template <class A>
struct Layer {
  A w, b;
};
template <class A>
struct Params {
  A k;
  std::vector<A> more;
};

inline State<double> state() { return {{0, 0, 1}, {1, 2, 3}, 2.0}; }
inline Pose<double> pose() {
  Pose<double> p;
  p.r << 1, 2, 3, 4, 5, 6;
  p.s = state();
  p.gains = {0.5, 0.25, 4};
  p.ab = {7, 8};
  p.extra = 9;
  return p;
}

}  // namespace calque::test
