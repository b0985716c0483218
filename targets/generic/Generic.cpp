// Portable scalar C++.
//
// The reference to which all other targets are compared. It has no vectors and
// no intrinsics, and assumes nothing about the machine except IEEE floats and
// conversions to signed integers that wrap.

#include "targets/TargetDescription.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::targets {

/// The ELF identity of the machine that the compiler runs on.
static ElfIdentity hostElf() {
  llvm::Triple host(llvm::sys::getDefaultTargetTriple());
  ElfIdentity elf;
  elf.is64Bit = host.isArch64Bit();
  if (host.isX86())
    elf.machine = elf.is64Bit ? llvm::ELF::EM_X86_64 : llvm::ELF::EM_386;
  else if (host.isAArch64())
    elf.machine = llvm::ELF::EM_AARCH64;
  else if (host.isRISCV())
    elf.machine = llvm::ELF::EM_RISCV;
  else if (host.isARM())
    elf.machine = llvm::ELF::EM_ARM;
  return elf;
}

void generic(std::vector<TargetDescription> &targets) {
  TargetDescription &target = targets.emplace_back();
  target.name = "generic";
  target.summary =
      "portable scalar C++, the reference for all others; also for "
      "microcontrollers without a target of their own (ESP32, RISC-V, AVR)";
  target.vectorRegisters = 16;
  target.l1Bytes = 32 << 10;
  target.l2Bytes = 256 << 10;
  target.compilers = {"clang++-22", "clang++", "g++", "c++"};
  target.elf = hostElf();
  target.hasC = true;
  target.selectCondition = "true";
  target.runsOnThisHost = [] { return true; };
}

} // namespace ingot::targets
