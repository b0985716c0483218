/* recording.S - the samples of a WAV file in flash, without its header of 44 bytes. */
#ifdef __arm__
  .syntax unified
#endif
  .section .rodata.recording, "a"
  .balign 4
  .global recording
recording:
  .incbin "words.wav", 44
  .global recording_end
recording_end:
