#include "targets/ProgramForm.h"

namespace ingot {

const ProgramForm &programForm(const TargetDescription &target) {
  static const ProgramForm cores;
  static const auto formOfDevices = [](bool isEmulated) {
    ProgramForm form;
    form.hasHandle = form.timesLaunches = true;
    form.functionWords = "__device__ __forceinline__ ";
    // A thread accesses at most 16 bytes at a time.
    form.localAlign = 16;
    // GPU compilers reject -fno-exceptions and -fno-rtti, and pass unknown
    // options to the host compiler only after -Xcompiler. They derive the
    // language from the file extension; `-x cu` sets it for all extensions.
    form.objectFlags = {"-std=c++17", "-O2", "-Xcompiler", "-fPIC"};
    if (!isEmulated)
      form.programFlags = {"-x", "cu"};
    // An object of the host does not show the sizes of kernels.
    form.measuresObjects = form.predictsCycles = false;
    form.lacks = {"arena-section", "emit-test", "evidence",
                  "max-flash",     "max-ram",   "trace"};
    return form;
  };
  static const ProgramForm devices = formOfDevices(false),
                           emulated = formOfDevices(true);
  return !target.isDevice()                    ? cores
         : target.emulation.headerName.empty() ? devices
                                               : emulated;
}

} // namespace ingot
