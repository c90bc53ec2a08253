#include "codegen/gpu/device_emitter.h"

namespace calque::codegen {

void DeviceEmitter::contraction(const kernel::Instruction&) { refuse("products have no tiles yet"); }

}  // namespace calque::codegen
