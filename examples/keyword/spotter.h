// spotter.h: finds words in a stream of samples.
//
// The network takes 320 new samples (20 ms) in each call and keeps what it
// needs of the earlier ones in its state. A word is reported when the mean of
// its probabilities over the last calls is high.

#ifndef KEYWORD_SPOTTER_H
#define KEYWORD_SPOTTER_H

#include "keyword.h"

class Spotter {
public:
  static constexpr int rate = 16000;
  static constexpr int step = int(KEYWORD_SAMPLES_ELEMENTS);
  static constexpr int classes = int(KEYWORD_PROBABILITIES_ELEMENTS);
  /// Returns the name of a class; class 0 is any sound that is no known word.
  static const char *nameOf(int word) {
    static const char *const names[] = {"none", "ai",  "us", "mo",
                                        "sa",   "she", "uma"};
    static_assert(sizeof names / sizeof *names ==
                      KEYWORD_PROBABILITIES_ELEMENTS,
                  "a name for each class of the model");
    return names[word];
  }

  /// Takes the next `step` samples. Returns the class of the word that they
  /// complete; 0 if they complete none, and -1 if the network reports an error.
  int hear(const int16_t *samples) {
    keyword_io io = {samples, probabilities, state};
    if (keyword::run(io, arena) != INGOT_OK)
      return -1;
    // The first calls fill the state; their probabilities have no meaning.
    if (++calls < int(KEYWORD_STREAM_CALLS))
      return 0;
    if (pause > 0)
      --pause;
    int best = 0;
    for (int i = 0; i < classes; ++i) {
      mean[i] += (probabilities[i] - mean[i]) / smoothing;
      best = mean[i] > mean[best] ? i : best;
    }
    if (best == 0 || mean[best] < threshold || pause > 0)
      return 0;
    pause = pauseAfterWord;
    return best;
  }

  /// The probabilities that the last call of hear() computed.
  float probabilities[classes];

private:
  /// `mean` is a moving average over about this many calls.
  static constexpr float smoothing = 8;
  static constexpr float threshold = 0.7f;
  /// The number of calls after a word in which no further word is reported.
  static constexpr int pauseAfterWord = 35;

  keyword::arena arena;
  alignas(KEYWORD_STATE_ALIGN) unsigned char state[KEYWORD_STATE_BYTES] = {};
  float mean[classes] = {};
  int calls = 0, pause = 0;
};

#endif
