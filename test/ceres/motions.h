#pragma once
// A manifold of Ceres made of functions of steps, compiled once for the tests.
#include <memory>

#include <ceres/manifold.h>

namespace calque::test {

/// Of poses that move by SE(3).
std::unique_ptr<::ceres::Manifold> motions();

}  // namespace calque::test
