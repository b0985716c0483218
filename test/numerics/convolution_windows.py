"""Convolutions that test matmuls of groups of narrow integers. Used by other files of this folder.

Each has the channels of the input and of the result, the sizes of image and window, and the attributes.
"""
WINDOWS = (
    (8, 16, (7, 6), (1, 1), {"strides": (2, 2)}),
    (3, 33, (9, 11), (3, 3), {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (4, 5, (5, 23), (3, 5), {"pads": (1, 2, 1, 2)}),
    (19, 24, (8, 40), (3, 3), {"pads": (1, 1, 1, 1)}),
    (32, 9, (6, 17), (3, 3), {"pads": (2, 2, 2, 2), "dilations": (2, 2)}),
    (20, 1, (4, 9), (1, 7), {"pads": (0, 3, 0, 1), "strides": (1, 3)}),
    (16, 70, (1, 30), (1, 4), {}),
    (5, 8, (2, 2), (5, 5), {"pads": (2, 2, 2, 2)}),
    # Few input channels: the weights of a kernel row (width x channels) are a multiple of the integers that one
    # instruction multiplies (4, for example), or are padded to such a multiple.
    (1, 9, (11, 10), (5, 4), {"pads": (2, 1, 2, 1), "strides": (2, 2)}),
    (1, 8, (9, 9), (5, 5), {"pads": (2, 2, 2, 2)}),
    (2, 5, (6, 7), (3, 3), {"pads": (1, 1, 1, 1), "dilations": (1, 2)}),
    (6, 7, (5, 12), (2, 3), {}),
)
