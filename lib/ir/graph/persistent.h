#pragma once
// Persistent locations. A file name from the compiler is a string of the library that it was compiled into and
// disappears when that library is unloaded: another library may then have another name at the same address.
#include "calque/ir/location.h"

namespace calque {

/// The location with a file name that lives as long as the program, for graphs and callables. Thread-safe; cached for
/// the most recent files of each thread.
Location persistent(const Location& location);

}  // namespace calque
