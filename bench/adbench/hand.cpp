#include "adbench/hand.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "adbench/adbench.h"
#include "adbench/declare.h"
#include "common/source_folder.h"

namespace adbench {
namespace {

/// The hand's model as plain numbers.
struct Flat {
  std::vector<int> parents, bone;
  std::vector<double> bases, inverses, weight;
  cq::Array<double> positions;  // [V, 3]
  std::vector<int64_t> first{0};

  explicit Flat(const Hand& hand) : positions(hand.vertices) {
    for (const Bone& b : hand.bones) {
      parents.push_back(b.parent);
      append(b.base, bases);
      append(b.inverse, inverses);
    }
    const auto bones = static_cast<int64_t>(hand.bones.size());
    for (int64_t v = 0; v < hand.vertices.shape()[0]; ++v) {
      for (int64_t b = 0; b < bones; ++b) {
        if (hand.weights(v, b) == 0) continue;
        bone.push_back(static_cast<int>(b));
        weight.push_back(hand.weights(v, b));
      }
      first.push_back(static_cast<int64_t>(bone.size()));
    }
  }
  static void append(const Rigid<double>& r, std::vector<double>& to) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) to.push_back(r.rotation(i, j));
      to.push_back(r.translation[i]);
    }
  }
};

/// A random problem in both forms.
struct Instance {
  hand::Problem ours;
  std::shared_ptr<const Flat> flat;
  cq::Array<double> points, barycentric;  // [N, 3], [N, 2]
  std::vector<int32_t> corners;
  std::vector<double> pose;

  Instance(const Hand& model, std::shared_ptr<const Flat> numbers, int64_t n, bool complicated)
      : flat(std::move(numbers)),
        points(random_array({n, 3}, -1, 1, 2)),
        barycentric(random_array({n, 2}, 0, 0.5f, 3)) {
    const int64_t choices = complicated ? model.triangles.shape()[0] : model.vertices.shape()[0];
    const auto picks = random_array({n}, 0, float(choices), 1);
    auto vertices = cq::Array<int32_t>::from(std::vector<int32_t>(picks.host().begin(), picks.host().end()), {n});
    if (complicated) vertices = take(model.triangles, vertices, 0);
    corners.assign(vertices.host().begin(), vertices.host().end());
    ours.bones = model.bones;
    ours.complicated = complicated;
    measure(ours, model, complicated ? transpose(vertices) : vertices);
    ours.points = transpose(points);
    ours.barycentric = transpose(barycentric);
    const auto draw = [&](int64_t count) {
      const auto part = random_array({count}, -0.5f, 0.5f, 4 + pose.size());
      pose.insert(pose.end(), part.host().begin(), part.host().end());
      return part;
    };
    ours.pose.rotation = draw(3);
    ours.pose.translation = draw(3);
    for (auto& finger : ours.pose.fingers) finger = draw(4);
  }

  HandProblem problem() const {
    return {int64_t(flat->parents.size()),
            int64_t(flat->first.size()) - 1,
            points.shape()[0],
            flat->parents.data(),
            flat->bases.data(),
            flat->inverses.data(),
            flat->positions.host().data(),
            flat->first.data(),
            flat->bone.data(),
            flat->weight.data(),
            corners.data(),
            points.host().data(),
            ours.complicated ? barycentric.host().data() : nullptr,
            pose.data()};
  }
};

/// In the order of the rivals' results: the coordinates of a point are adjacent.
std::vector<double> by_points(const cq::Array<double>& x) {
  const auto swapped = x.rank() == 2 ? transpose(x) : transpose(x, {0, 2, 1});
  return {swapped.host().begin(), swapped.host().end()};
}

template <class F, class DF>
void declare(const std::shared_ptr<const Instance>& x, const F& errors, const DF& jacobian) {
  const std::string size = (x->ours.complicated ? "compl" : "simple") + std::to_string(x->points.shape()[0]);
  const bench::Task value{"hand", size}, slope{"hand_jacobian", size};
  const std::vector<double> expected = by_points(errors()), derivatives = by_points(jacobian());
  add_ours(value, errors);
  add_rival(value, "c++", expected, [=](double* out) { hand_plain(x->problem(), out); });
  add_ours(slope, jacobian);
  add_rival(slope, "c++", derivatives, [=](double* out) { hand_jacobian_plain(x->problem(), out); });
}

void declare(const std::shared_ptr<const Instance>& x) {
  const hand::Problem& p = x->ours;
  if (p.complicated) {
    auto f = cq::jit(hand::complicated_errors(p));
    auto df = cq::jit(hand::complicated_jacobian(p));
    declare(
        x, [=] { return f(x->ours.pose, x->ours.points, x->ours.barycentric); },
        [=] { return df(x->ours.pose, x->ours.points, x->ours.barycentric); });
  } else {
    auto f = cq::jit(hand::simple_errors(p));
    auto df = cq::jit(hand::simple_jacobian(p));
    declare(x, [=] { return f(x->ours.pose, x->ours.points); }, [=] { return df(x->ours.pose, x->ours.points); });
  }
}

}  // namespace

void declare_hand() {
  const auto root = std::filesystem::path(bench::source_folder());
  const Hand model = read_hand((root / "test" / "adbench" / "data" / "hand" / "model").string());
  const auto flat = std::make_shared<const Flat>(model);
  for (int64_t n : {100, 800}) {
    declare(std::make_shared<const Instance>(model, flat, n, false));
    declare(std::make_shared<const Instance>(model, flat, n, true));
  }
  // Many more points than vertices: each vertex is posed once.
  declare(std::make_shared<const Instance>(model, flat, 8000, false));
}

}  // namespace adbench
