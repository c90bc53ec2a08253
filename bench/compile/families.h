// Case 20: programs of many arrays.
#pragma once

/// Declares each family at two sizes, one ten times the other.
void declare_families();
