// Matrix tile registers of a CPU: see TileRegisterOps.td.

#ifndef INGOT_DIALECTS_KERNEL_TILEREGISTERS_H
#define INGOT_DIALECTS_KERNEL_TILEREGISTERS_H

#include "dialects/kernel/KernelDialect.h"

#define GET_OP_CLASSES
#include "dialects/kernel/TileRegisterOps.h.inc"

#endif // INGOT_DIALECTS_KERNEL_TILEREGISTERS_H
