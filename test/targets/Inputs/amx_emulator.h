// Reports the AMX instructions that the emulator has executed.
#ifndef INGOT_TEST_AMX_EMULATOR_H
#define INGOT_TEST_AMX_EMULATOR_H

/// Whether AMX tiles are emulated; false if the processor has them.
bool amx_is_emulated();

/// How many AMX instructions of each kind were executed since the last call of
/// amx_counts(); all zero if nothing is emulated.
struct AmxCounts {
  long configurations, zeros, loads, stores, products;
};
AmxCounts amx_counts();

#endif // INGOT_TEST_AMX_EMULATOR_H
