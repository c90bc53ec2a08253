#pragma once
#include <cstdint>
#include <string>

namespace calque::codegen {

/// Is told which kernels code is being generated for, on the threads that generate it.
class CodegenWatch {
 public:
  using Ticket = uint64_t;
  virtual Ticket begin(std::string what) noexcept = 0;
  virtual void end(Ticket ticket) noexcept = 0;

 protected:
  ~CodegenWatch() = default;
};

}  // namespace calque::codegen
