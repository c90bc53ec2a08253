// The table from primitives to ScalarOp, filled once from the registry.
#include "codegen/scalar/scalar_op.h"

#include <string_view>
#include <vector>

namespace calque::codegen {

namespace {

struct Entry {
  std::string_view name;
  ScalarOp op;
};

constexpr Entry kOps[] = {
    {"neg", ScalarOp::neg},
    {"abs", ScalarOp::abs},
    {"sign", ScalarOp::sign},
    {"floor", ScalarOp::floor},
    {"ceil", ScalarOp::ceil},
    {"trunc", ScalarOp::trunc},
    {"round", ScalarOp::round},
    {"round_half_away", ScalarOp::round_half_away},
    {"sqrt", ScalarOp::sqrt},
    {"rsqrt", ScalarOp::rsqrt},
    {"not", ScalarOp::not_},
    {"popcount", ScalarOp::popcount},
    {"clz", ScalarOp::clz},
    {"stop_gradient", ScalarOp::stop_gradient},
    {"add", ScalarOp::add},
    {"sub", ScalarOp::sub},
    {"mul", ScalarOp::mul},
    {"div", ScalarOp::div},
    {"rem", ScalarOp::rem},
    {"max", ScalarOp::max},
    {"min", ScalarOp::min},
    {"copysign", ScalarOp::copysign},
    {"and", ScalarOp::and_},
    {"or", ScalarOp::or_},
    {"xor", ScalarOp::xor_},
    {"shl", ScalarOp::shl},
    {"shr_arithmetic", ScalarOp::shr_arithmetic},
    {"shr_logical", ScalarOp::shr_logical},
    {"eq", ScalarOp::eq},
    {"ne", ScalarOp::ne},
    {"lt", ScalarOp::lt},
    {"le", ScalarOp::le},
    {"gt", ScalarOp::gt},
    {"ge", ScalarOp::ge},
    {"fma", ScalarOp::fma},
    {"clamp", ScalarOp::clamp},
    {"select", ScalarOp::select},
    {"convert", ScalarOp::convert},
    {"bitcast", ScalarOp::bitcast},
};

std::vector<ScalarOp> make_table() {
  std::vector<ScalarOp> table(num_primitives(), ScalarOp::unsupported);
  for (const Entry& e : kOps)
    if (const Primitive* p = find_primitive(e.name)) table[p->id] = e.op;
  return table;
}

}  // namespace

ScalarOp scalar_op(PrimitiveId id) {
  // Never destroyed: functions may still be compiled while the program is ending.
  static const auto& table = *new std::vector<ScalarOp>(make_table());
  return id < table.size() ? table[id] : ScalarOp::unsupported;
}

}  // namespace calque::codegen
