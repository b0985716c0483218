// What the emulator of tiles has counted since it was asked last.
#ifndef INGOT_TEST_AMX_EMULATOR_H
#define INGOT_TEST_AMX_EMULATOR_H

struct AmxCounts {
  long configurations, zeros, loads, stores, products;
};
AmxCounts amx_counts();

#endif // INGOT_TEST_AMX_EMULATOR_H
