#pragma once
// Locations that last. A file name that the compiler gave is a string of the library that it was compiled into, and
// goes when that is unloaded: another library may then have another name at the same address.
#include "calque/ir/location.h"

namespace calque {

/// The same line with a file name that lives as long as the program: what graphs and callables keep. Thread-safe, and
/// quick for the files that a thread has asked for lately.
Location persistent(const Location& location);

}  // namespace calque
