#include <memory>
#include <unordered_map>

#include <dnnl.hpp>

#include "matmul/matmul.h"

Product<float> matmul_onednn(int64_t n) {
  using dnnl::memory;
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  memory::desc square({n, n}, memory::data_type::f32, memory::format_tag::ab);
  dnnl::matmul product({{square, square, square}, engine});
  memory a(square, engine, nullptr), b(square, engine, nullptr), c(square, engine, nullptr);
  return [=](const float* pa, const float* pb, float* pc) mutable {
    a.set_data_handle(const_cast<float*>(pa));
    b.set_data_handle(const_cast<float*>(pb));
    c.set_data_handle(pc);
    product.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
  };
}

std::string onednn_version() {
  const dnnl::version_t* v = dnnl::version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}
