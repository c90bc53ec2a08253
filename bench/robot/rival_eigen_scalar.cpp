// Native code must not share inline functions with the rest of the program.
#define robot robot_native
#include "robot/states.h"

void accelerations_scalar(const Robot& robot, double* out) {
  robot.joints == 7 ? states::accelerations<7, double>(robot, out) : states::accelerations<30, double>(robot, out);
}

void jacobians_scalar(const Robot& robot, double* out) {
  robot.joints == 7 ? states::jacobians<7, 21, double>(robot, out) : states::jacobians<30, 30, double>(robot, out);
}
