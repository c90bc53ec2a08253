// Case 21: ADBench's four problems, objective and derivatives, on random data of the sizes of its instances.
#include "adbench/declare.h"
#include "common/harness.h"

namespace {

void declare() {
  adbench::declare_gmm();
  adbench::declare_ba();
  adbench::declare_lstm();
  adbench::declare_hand();
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
