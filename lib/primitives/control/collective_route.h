#pragma once
// Where the calls of equations are made that the host evaluates in place of a device.
#include <functional>

#include "calque/ir/collectives.h"

namespace calque::primitives {

/// RAII: this thread computes on the host in place of a device, in whose memory other ranks have their arrays. `route`
/// runs the calls of equations on arrays in host memory; null: the group does.
class RouteCollectives {
 public:
  using Route =
      std::function<void(const ProcessGroup& group, const CollectiveCall& call, const void* operand, void* result)>;
  explicit RouteCollectives(Route route);
  ~RouteCollectives();
  RouteCollectives(const RouteCollectives&) = delete;
  RouteCollectives& operator=(const RouteCollectives&) = delete;

 private:
  Route route_;
  const Route* outer_;
};

}  // namespace calque::primitives
