// The scans of one level: included by the source file of each, with CALQUE_LEVEL defined as its name.
#include "runtime/routines/select.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

template <class S, bool IsFloat, bool Descending>
int64_t find_block(const void* keys, int64_t begin, int64_t end, const ScanBound& bound, uint8_t* flags) {
  const S key = static_cast<S>(bound.key), special = static_cast<S>(bound.special);
  const auto passes = [&](S bits) {
    const S own = scan_key<IsFloat>(bits, special);
    return Descending ? own > key : own < key;
  };
  int64_t i = begin;
  for (; end - i >= kScanBlock; i += kScanBlock) {
    const S* const block = static_cast<const S*>(keys) + i;
    S any = 0;
    for (int64_t j = 0; j < kScanBlock; ++j) any = static_cast<S>(any | (passes(block[j]) ? S(-1) : S(0)));
    if (any == 0) continue;
    for (int64_t j = 0; j < kScanBlock; ++j) flags[j] = passes(block[j]) ? 1 : 0;
    break;
  }
  return i;
}

}  // namespace

#define CALQUE_SCANS(S, IsFloat) {&find_block<S, IsFloat, false>, &find_block<S, IsFloat, true>}
extern const KeyScans kScans = {
    {CALQUE_SCANS(int8_t, false), CALQUE_SCANS(int16_t, false), CALQUE_SCANS(int32_t, false),
     CALQUE_SCANS(int64_t, false)},
    {{nullptr, nullptr}, CALQUE_SCANS(int16_t, true), CALQUE_SCANS(int32_t, true), CALQUE_SCANS(int64_t, true)}};
#undef CALQUE_SCANS

}  // namespace calque::runtime::CALQUE_LEVEL
