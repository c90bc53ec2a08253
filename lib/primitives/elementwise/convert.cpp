#include "primitives/elementwise/convert.h"

#include <fmt/format.h>

#include "primitives/elementwise/elementwise_evaluation.h"
#include "primitives/registration.h"

namespace calque::primitives {

void Convert::infer(Typing& t) { t.result({t.attributes().get<DType>("dtype"), t.operand(0).shape}); }

void Convert::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const int64_t n = out.size();
  visit_dtype(e.operands[0].dtype(), [&]<class From>() {
    const From* from = e.operands[0].data_as<From>();
    visit_dtype(out.dtype(), [&]<class To>() {
      To* to = static_cast<To*>(out.mutable_data());
      for (int64_t i = 0; i < n; ++i) to[i] = convert_element<To>(from[i]);
    });
  });
}

void Convert::jvp(Jvp& j) { j.add(j.writer.convert(j.tangents[0], j.result_type().dtype)); }

void Convert::transpose(Transposition& t) { t.add(0, t.writer.convert(t.cotangents[0], t.operand_type(0).dtype)); }

void Bitcast::infer(Typing& t) {
  const DType from = t.operand(0).dtype;
  const DType to = t.attributes().get<DType>("dtype");
  t.accept(0, kReal);
  if (!contains(kReal, to) || size_of(from) != size_of(to)) {
    t.dtype_error(fmt::format("expects a dtype of the width of {}, got {}", calque::name(from), calque::name(to)));
  }
  t.result({to, t.operand(0).shape});
}

void Bitcast::evaluate(Evaluation& e) { e.results.emplace_back(e.result_types[0], e.operands[0].storage()); }

void Bitcast::jvp(Jvp& j) {
  if (j.operand_type(0) == j.result_type()) j.add(j.tangents[0]);
}

void Bitcast::transpose(Transposition& t) { t.add(0, t.cotangents[0]); }

void StopGradient::infer(Typing& t) { t.result(t.operand(0)); }
void StopGradient::evaluate(Evaluation& e) { e.results.push_back(e.operands[0]); }

template void register_family<ConvertList>(std::span<const Registration>);

}  // namespace calque::primitives
