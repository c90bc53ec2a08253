#include "npbench/programs.h"

namespace cq = calque;

namespace calque::test {
namespace {

void run(Case& c) {
  auto data = c.in<uint8_t>("data");
  auto f = cq::jit([](auto data) {
    auto [crc, ys] = cq::scan(
        [](auto crc, auto b) {
          auto cur = cast<int32_t>(b);
          for (int k = 0; k < 8; ++k) {
            crc = where(((crc ^ cur) & 1) != 0, (crc >> 1) ^ 0x8408, crc >> 1);
            cur = cur >> 1;
          }
          return std::pair{crc, std::tuple<>{}};
        },
        0xFFFF, data);
    crc = ~crc & 0xFFFF;
    crc = (crc << 8) | ((crc >> 8) & 0xFF);
    return crc & 0xFFFF;
  });
  cq::Array<int32_t> r;
  c.time([&] { r = f(data); });
  c.out(0, cq::Array<int64_t>(int64_t{r.item()}));
}

TEST(Npbench, Crc16) {
  Case c("crc16");
  run(c);
}

}  // namespace
}  // namespace calque::test
