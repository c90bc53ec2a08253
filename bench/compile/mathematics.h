// Case 20: programs of elementary functions, and small programs of one operation.
#pragma once

/// Declares the first calls of them, all with arrays of shapes that were never seen before.
void declare_mathematics();
