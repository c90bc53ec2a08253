#include "models.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>
#include <calque/eigen.h>

#include "adbench/hand.h"
#include "common/source_folder.h"
#include "first_call.h"
#include "robot/dynamics.h"

namespace cq = calque;

namespace {

/// A function of more arguments, whose program is another one for every length of the first.
template <class F>
auto beside(const F& f) {
  return cq::jit([f](auto length, const auto&... x) { return std::pair{length + length, f(x...)}; });
}

void declare_robot() {
  constexpr int kJoints = 7;
  const auto dynamics = [links = robot::arm(kJoints)](auto state) {
    using S = cq::Tracer<double>;
    using Vector = Eigen::Matrix<S, kJoints, 1>;
    const Vector q = state[cq::range(0, kJoints)], velocity = state[cq::range(kJoints, 2 * kJoints)],
                 torque = state[cq::range(2 * kJoints, 3 * kJoints)];
    return S(robot::forward_dynamics<kJoints, S>(links, q, velocity, torque));
  };
  const auto add = [](const std::string& what, const auto& f) {
    first_call::add(what, "7 joints",
                    [f](int64_t k) { return f(cq::Array<double>::full({64 + k, 3 * kJoints}, 0.25)); });
  };
  add("robot dynamics", cq::jit(cq::vmap(dynamics)));
  add("robot Jacobian", cq::jit(cq::vmap(cq::jacfwd(dynamics))));
}

/// A complicated problem of `count` points on the first triangles.
adbench::hand::Problem hand_problem(int64_t count) {
  const auto root = std::filesystem::path(bench::source_folder());
  const adbench::Hand hand = adbench::read_hand((root / "test" / "adbench" / "data" / "hand" / "model").string());
  adbench::hand::Problem problem;
  problem.bones = hand.bones;
  problem.complicated = true;
  std::vector<int32_t> triangles(static_cast<size_t>(count));
  std::iota(triangles.begin(), triangles.end(), 0);
  adbench::hand::measure(problem, hand, transpose(take(hand.triangles, cq::Array<int32_t>::from(triangles), 0)));
  problem.points = cq::Array<double>::zeros({3, count});
  problem.barycentric = cq::Array<double>::full({2, count}, 0.25);
  problem.pose.rotation = problem.pose.translation = cq::Array<double>::full({3}, 0.25);
  for (auto& finger : problem.pose.fingers) finger = cq::Array<double>::full({4}, 0.25);
  return problem;
}

void declare_hand() {
  const adbench::hand::Problem p = hand_problem(100);
  const auto add = [&](const std::string& what, const auto& f) {
    first_call::add_growing(what, "compl100", {16}, beside(f), p.pose, p.points, p.barycentric);
  };
  add("hand", adbench::hand::complicated_errors(p));
  add("hand Jacobian", adbench::hand::complicated_jacobian(p));
}

void declare_product() {
  using Matrix = cq::Matrix<double, 12, 12>;
  const auto product = [](const auto& a, const auto& b) { return cq::Tracer<double>(Matrix(Matrix(a) * Matrix(b))); };
  const auto operand = cq::Array<double>::full({12, 12}, 0.25);
  first_call::add_growing("product of Eigen matrices", "12", {16}, beside(product), operand, operand);
}

}  // namespace

void declare_models() {
  declare_robot();
  declare_hand();
  declare_product();
}
