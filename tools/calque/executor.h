#pragma once
// A graph on a device, compiled once.
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "calque/device.h"
#include "calque/ir/graph.h"

#include "compile/executable.h"

namespace calque::cli {

class Executor {
 public:
  /// `compile.device` and `compile.reference` select where it runs. Throws CompileError and DeviceError with messages
  /// that begin with `operation`.
  Executor(std::string_view operation, const Graph& graph, const runtime::CompileOptions& compile);
  /// Runs the graph. Arrays on other devices are copied first.
  std::vector<AnyArray> operator()(const std::vector<AnyArray>& inputs) const;
  /// Copies the inputs to the device of the executor, which then reads them without a copy.
  std::vector<AnyArray> to_device(std::vector<AnyArray> inputs) const;
  Device device() const { return device_; }

 private:
  Device device_;
  std::shared_ptr<const runtime::Executable> executable_;
};

/// An array of random numbers from `bits`: floats in [-1, 1), integers in [0, 8), bools.
AnyArray random_array(const Type& type, std::mt19937_64& bits);

}  // namespace calque::cli
