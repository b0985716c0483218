// The list of Arm targets.

#include "targets/arm/Arm.h"

namespace ingot::targets {

void arm(std::vector<TargetDescription> &targets) {
  cortexM(targets);
  armv7(targets);
  aarch64(targets);
}

} // namespace ingot::targets
