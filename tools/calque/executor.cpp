#include "calque/executor.h"

#include "calque/ir/errors.h"

#include "runtime/call/dispatch.h"
#include "runtime/device/device_api.h"

namespace calque::cli {

Executor::Executor(std::string_view operation, const Graph& graph, const runtime::CompileOptions& compile)
    : device_(compile.device) {
  const std::string title(operation);
  detail::require_device(title, device_, {});
  std::vector<runtime::Strides> strides;
  for (const Value v : graph.inputs()) strides.push_back(row_major_strides(graph.shape(v)));
  executable_ = runtime::find_executable(graph, strides, compile);
}

std::vector<AnyArray> Executor::operator()(const std::vector<AnyArray>& inputs) const {
  std::vector<const AnyArray*> pointers;
  for (const AnyArray& a : inputs) pointers.push_back(&a);
  return runtime::execute(*executable_, pointers, device_);
}

std::vector<AnyArray> Executor::to_device(std::vector<AnyArray> inputs) const {
  for (AnyArray& a : inputs) a = detail::copy_to_device("run", a, device_, {});
  return inputs;
}

AnyArray random_array(const Type& type, std::mt19937_64& bits) {
  AnyArray array = AnyArray::uninitialized(type);
  const auto unit = [&] { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; };
  visit_dtype(type.dtype, [&]<class T>() {
    T* to = static_cast<T*>(array.mutable_data());
    for (int64_t i = 0, n = array.size(); i < n; ++i) {
      if constexpr (is_complex(dtype_of<T>)) {
        const double re = unit();
        to[i] = T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(unit()));
      } else if constexpr (is_floating(dtype_of<T>)) {
        to[i] = static_cast<T>(unit());
      } else {
        to[i] = static_cast<T>(bits() >> 32 & (dtype_of<T> == DType::bool_ ? 1 : 7));
      }
    }
  });
  return array;
}

}  // namespace calque::cli
