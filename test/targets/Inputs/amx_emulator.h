// The instructions of AMX that the emulator has executed.
#ifndef INGOT_TEST_AMX_EMULATOR_H
#define INGOT_TEST_AMX_EMULATOR_H

/// Whether tiles are emulated; false where the processor has them.
bool amx_is_emulated();

/// Instructions since the last call; zeros where nothing is emulated.
struct AmxCounts {
  long configurations, zeros, loads, stores, products;
};
AmxCounts amx_counts();

#endif // INGOT_TEST_AMX_EMULATOR_H
