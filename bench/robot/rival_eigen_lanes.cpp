// Native code must not share inline functions with the rest of the program.
#define robot robot_native
#include "robot/states.h"

void accelerations_lanes(const Robot& robot, double* out) {
  robot.joints == 7 ? states::accelerations<7, numbers::Lanes>(robot, out)
                    : states::accelerations<30, numbers::Lanes>(robot, out);
}

void jacobians_lanes(const Robot& robot, double* out) {
  robot.joints == 7 ? states::jacobians<7, 7, numbers::Lanes>(robot, out)
                    : states::jacobians<30, 10, numbers::Lanes>(robot, out);
}
