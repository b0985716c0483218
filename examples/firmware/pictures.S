/* pictures.S - the pictures of characters for compare.cpp, in flash. */
#ifdef __arm__
  .syntax unified
#endif
  .section .rodata.pictures, "a"
  .global pictures
pictures:
  .incbin "chars.bin"
  .global pictures_end
pictures_end:
