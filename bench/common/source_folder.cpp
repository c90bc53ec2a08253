#include "common/source_folder.h"

namespace bench {

std::string source_folder() { return CALQUE_SOURCE_DIR; }

}  // namespace bench
