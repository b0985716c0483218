/* images.S - the image files of the ten digits in flash, and their addresses.
 * digit_images[10] is the end of the last file. */
#ifdef __arm__
  .syntax unified
#endif
  .section .rodata.images, "a"
image_0:
  .incbin "test_data_set_0/input_0.pb"
image_1:
  .incbin "test_data_set_1/input_0.pb"
image_2:
  .incbin "test_data_set_2/input_0.pb"
image_3:
  .incbin "test_data_set_3/input_0.pb"
image_4:
  .incbin "test_data_set_4/input_0.pb"
image_5:
  .incbin "test_data_set_5/input_0.pb"
image_6:
  .incbin "test_data_set_6/input_0.pb"
image_7:
  .incbin "test_data_set_7/input_0.pb"
image_8:
  .incbin "test_data_set_8/input_0.pb"
image_9:
  .incbin "test_data_set_9/input_0.pb"
image_10:

  .section .rodata.digit_images, "a"
  .balign 4
  .global digit_images
digit_images:
  .word image_0
  .word image_1
  .word image_2
  .word image_3
  .word image_4
  .word image_5
  .word image_6
  .word image_7
  .word image_8
  .word image_9
  .word image_10
