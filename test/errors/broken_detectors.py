"""Models and options that `ingot attach` rejects."""
import numpy as np
from onnx import helper, numpy_helper

from cases import F, case, info, model, node

FRAME = ["--frame", "64x48", "-o", "FOLDER/out.onnx"]
BOXES = ["-o", "FOLDER/out.onnx"]


def detector(output, image=(1, 3, 32, 32), metadata=(), dtype=F):
    """Returns a model whose output has the shape `output`; each element is the sum of the image, so it detects nothing."""
    zeros = numpy_helper.from_array(np.zeros(output, np.float32), "zeros")
    result = model([node("ReduceSum", ["x"], ["s"], name="sum", keepdims=0), node("Add", ["s", "zeros"])],
                   inputs=[info("x", image)], outputs=[info("y", output)], initializers=[zeros])
    helper.set_model_props(result, dict(metadata))
    return result


@case("not-detector", text="the boxes cannot be found among the outputs: `y` [1,4]", command=["attach"], args=BOXES)
def outputs_without_boxes(folder):
    return model([node("Relu")])


@case("not-detector", text="the input `x` is f32[1,4]", command=["attach"], args=FRAME)
def input_that_is_no_image(folder):
    return model([node("Relu")])


@case("not-detector", text="the model has 2 inputs", command=["attach"], args=FRAME + ["--head", "none"])
def detector_with_two_inputs(folder):
    return model([node("Add", ["x", "z"])], inputs=[info("x"), info("z")])


@case("not-detector", text="has 84 numbers for each box", command=["attach"], args=BOXES + ["--classes", "90"])
def more_classes_than_numbers(folder):
    return detector((1, 84, 2100))


@case("not-detector", text="has 10 numbers for each box; 4 + 3 classes are 7", command=["attach"], args=BOXES)
def other_number_of_names(folder):
    return detector((1, 10, 50), metadata={"names": "{0: 'a', 1: \"b'\", 2: 'c\\'d'}"})


@case("not-detector", text="has its boxes along axis 1", command=["attach"], args=BOXES)
def boxes_with_objectness(folder):
    return detector((1, 2100, 85))


@case("not-detector", text="rotated boxes", command=["attach"], args=BOXES)
def rotated_boxes(folder):
    return detector((1, 20, 2100), metadata={"task": "obb"})


@case("unbound-dimension", text="--dim h=SIZE", command=["attach"], args=FRAME)
def image_of_open_size(folder):
    return detector((1, 84, 2100), image=(1, 3, "h", 32))


@case("not-onnx", command=["attach"], args=BOXES)
def detector_that_is_text(folder):
    return b"names: 80 classes\n"


@case("bad-option", text="no file to write is given", command=["attach"])
def attach_without_output(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="cannot parse `64`", command=["attach"], args=BOXES + ["--frame", "64"])
def frame_without_height(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="must be even in nv12 and nv21, but are 64 and 47", command=["attach"],
      args=BOXES + ["--frame", "64x47", "--format", "nv12"])
def odd_planes(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="need a fixed size", command=["attach"], args=BOXES + ["--frame", "any", "--format", "nv21"])
def planes_of_any_size(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="choose from rgb, bgr", command=["attach"], args=BOXES + ["--frame", "64x48", "--format", "rbg"])
def unknown_format(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="--format has no effect without --frame", command=["attach"], args=BOXES + ["--format", "bgr"])
def format_without_frame(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="--score: the value is out of range (0 to 1)", command=["attach"], args=BOXES + ["--score", "25"])
def score_in_percent(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="adds nothing", command=["attach"], args=BOXES + ["--head", "none"])
def nothing_to_attach(folder):
    return detector((1, 84, 2100))


@case("bad-option", text="--keypoints: cannot parse `17`", command=["attach"], args=BOXES + ["--keypoints", "17"])
def keypoints_without_size(folder):
    return detector((1, 84, 2100))
