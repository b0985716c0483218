// Queries NVIDIA's driver, if it is installed, for the first GPU of the
// machine.

#include "targets/DeviceHere.h"
#include "targets/TargetDescription.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

namespace ingot {

/// Returns ten times the GPU's compute capability; 0 if there is no GPU.
static int levelHere() {
  // Values of enumerators in cuda.h, a header that need not be installed.
  constexpr int major = 75, minor = 76;
  auto driver = llvm::sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1");
  if (!driver.isValid())
    return 0;
  auto start =
      reinterpret_cast<int (*)(unsigned)>(driver.getAddressOfSymbol("cuInit"));
  auto first = reinterpret_cast<int (*)(int *, int)>(
      driver.getAddressOfSymbol("cuDeviceGet"));
  auto ask = reinterpret_cast<int (*)(int *, int, int)>(
      driver.getAddressOfSymbol("cuDeviceGetAttribute"));
  int device = 0, high = 0, low = 0;
  if (!start || !first || !ask || start(0) || first(&device, 0) ||
      ask(&high, major, device) || ask(&low, minor, device))
    return 0;
  return 10 * high + low;
}

bool hasDeviceFor(const TargetDescription &target) {
  const char *asked = std::getenv("EMULATED_GPU");
  if (asked && *asked)
    return false;
  static const int here = levelHere();
  int level = int(target.device.level);
  // Code for 9.0a runs only on 9.0. The driver compiles other code for later
  // GPUs.
  bool runs = llvm::isAlpha(target.name.back()) ? here == level : here >= level;
  return runs && llvm::any_of(target.compilers, [](llvm::StringRef command) {
           return bool(llvm::sys::findProgramByName(command.split(' ').first));
         });
}

} // namespace ingot
