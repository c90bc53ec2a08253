// Case 20: programs of elementary functions, and small programs of one operation.
#pragma once

/// Declares first calls of these programs, all with arrays of new shapes.
void declare_mathematics();
