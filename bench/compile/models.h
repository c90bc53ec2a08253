// Case 20: larger programs on Eigen's matrices.
#pragma once

/// Declares first calls of a robot's dynamics, of ADBench's hand, of their Jacobians, and of a product of Eigen's
/// matrices.
void declare_models();
