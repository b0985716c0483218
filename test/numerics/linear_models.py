"""Operators of ai.onnx.ml on numbers other than trees: what prepares features, linear models, support vectors, labels. Beside ONNX Runtime.

    linear_models.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]
"""
import itertools
import sys

import numpy as np
from onnx import helper, numpy_helper

from beside_onnxruntime import Case, compare, data, rng

FEATURES = 5
NUMBERS = (np.float32, np.float64, np.int64, np.int32)
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def case(name, op, inputs, outputs=("y",), version=3, want=None, tolerance=1e-5, **attributes):
    node = helper.make_node(op, list(inputs), list(outputs), domain="ai.onnx.ml", **attributes)
    result = Case(name, [node], inputs, outputs=outputs, want=want, tolerance=tolerance)
    result.model.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
    return result


def table(dtype, rows=7):
    """Returns a matrix [rows, FEATURES] of few different numbers, some of them zero; its last row is zero."""
    x = (rng.integers(-6, 7, (rows, FEATURES)) / (2 if np.issubdtype(dtype, np.floating) else 1)).astype(dtype)
    x[-1] = 0
    return x


def features():
    each, one = [0.5, -1.25, 2.0, 3.0, -0.5], [0.75]
    for dtype in NUMBERS:
        name, x = np.dtype(dtype).name, table(dtype)
        for numbers in (each, one):
            yield case(f"scaler-{name}-{len(numbers)}", "Scaler", {"x": x}, offset=numbers, scale=numbers[::-1])
        for norm in ("MAX", "L1", "L2"):
            # With the norm MAX, rows whose elements are all negative are divided by their largest element.
            yield case(f"normalizer-{norm}-{name}", "Normalizer", {"x": x}, norm=norm)
            yield case(f"normalizer-{norm}-{name}-negative", "Normalizer", {"x": -np.abs(x) - 1}, norm=norm)
        yield case(f"vectorizer-{name}", "FeatureVectorizer", {"x": x}, inputdimensions=[FEATURES])
        yield case(f"vectorizer-three-{name}", "FeatureVectorizer", {"x": x, "x2": table(dtype)[:, :2].copy(), "x3": table(dtype)[:, :1].copy()},
                   inputdimensions=[FEATURES, 2, 1])
    x = table(np.float32)
    missing = x.copy()
    missing[rng.random(x.shape) < 0.3] = np.nan
    for threshold in (0.5, 0.0, -1.25):
        yield case(f"binarizer-{threshold}", "Binarizer", {"x": x}, threshold=threshold)
    for name, of in (("row", x[0]), ("cube", x.reshape(7, 1, FEATURES)), ("many", table(np.float32, 256))):
        yield case(f"binarizer-{name}", "Binarizer", {"x": of})
    for values in ([1.5], each):
        yield case(f"imputer-nan-{len(values)}", "Imputer", {"x": missing}, imputed_value_floats=values, replaced_value_float=float("nan"))
        yield case(f"imputer-zero-{len(values)}", "Imputer", {"x": x}, imputed_value_floats=values, replaced_value_float=0.0)
    for values in ([7], [1, 2, 3, 4, 5]):
        yield case(f"imputer-int-{len(values)}", "Imputer", {"x": table(np.int64)}, imputed_value_int64s=values, replaced_value_int64=-1)
    # Integers that no double represents. The comparison is in doubles, so they are made small first.
    large = 2**53
    integers = np.array([[large, large + 1, large + 3]])
    for name, op, attributes, want in (
        ("imputer-large", "Imputer", {"imputed_value_int64s": [large + 5], "replaced_value_int64": large + 1}, [[0, 5, 3]]),
        ("imputer-large-each", "Imputer", {"imputed_value_int64s": [large + k for k in (7, 9, 5)], "replaced_value_int64": large + 3}, [[0, 1, 5]]),
        ("labels-large", "LabelEncoder", {"keys_int64s": [large + 1], "values_int64s": [large + 5], "default_int64": large + 3}, [[3, 5, 3]]),
    ):
        result = case(name, op, {"x": integers}, outputs=("large",), want=[np.array(want)], **attributes)
        result.model.graph.node.append(helper.make_node("Sub", ["large", "offset"], ["y"]))
        result.model.graph.initializer.append(numpy_helper.from_array(np.array(large), "offset"))
        result.model.graph.output[0].name, result.outputs = "y", ("y",)
        yield result
    yield case("imputer-row", "Imputer", {"x": x[0]}, imputed_value_floats=[1.0], replaced_value_float=float(x[0, 0]))
    indices = np.array([3, 0, 3])
    extract = helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["y"], domain="ai.onnx.ml")
    for dtype in NUMBERS:
        for name, of in (("", table(dtype)), ("-row", table(dtype)[0]), ("-cube", table(dtype, 6).reshape(2, 3, FEATURES))):
            result = Case(f"extract-{np.dtype(dtype).name}{name}", [extract], {"x": of}, {"i": indices}, outputs=("y",))
            result.model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
            yield result
    yield case("extract-at", "ArrayFeatureExtractor", {"x": table(np.float32), "i": indices})


def linear():
    weights = lambda n: [float(v) for v in data((n * FEATURES,)) / 4]
    for transform, targets in itertools.product(TRANSFORMS, (1, 3)):
        # PROBIT requires numbers between 0 and 1.
        near = [0.5] * targets if transform == "PROBIT" else [float(v) for v in data((targets,))]
        scaled = [w / (20 if transform == "PROBIT" else 1) for w in weights(targets)]
        common = {"coefficients": scaled, "intercepts": near, "post_transform": transform}
        yield case(f"regressor-{transform}-{targets}", "LinearRegressor", {"x": table(np.float32)}, targets=targets, tolerance=1e-4, **common)
        if (transform, targets) == ("PROBIT", 1):
            continue  # skipped: ONNX Runtime overwrites rows of its own result
        yield case(f"classifier-{transform}-{targets}", "LinearClassifier", {"x": table(np.float32)}, ("label", "scores"), tolerance=1e-4,
                   classlabels_ints=[7, 3, 5][:targets] if targets > 1 else [4, 9], **common)
    for dtype in NUMBERS:
        name = np.dtype(dtype).name
        yield case(f"classifier-{name}", "LinearClassifier", {"x": table(dtype)}, ("label", "scores"), coefficients=weights(3), intercepts=[0.5, 0.0, -0.25],
                   classlabels_ints=[0, 1, 2], multi_class=1, post_transform="SOFTMAX")
    yield case("regressor-plain", "LinearRegressor", {"x": table(np.float32)}, coefficients=weights(1))
    yield case("regressor-row", "LinearRegressor", {"x": table(np.float32)[:1]}, coefficients=weights(2), targets=2)
    yield case("regressor-many", "LinearRegressor", {"x": table(np.float32, 256)}, coefficients=weights(2), intercepts=[1.0, 2.0], targets=2)


def machines():
    kernels = {"LINEAR": [0.0, 0.0, 0.0], "RBF": [0.3, 0.0, 0.0], "POLY": [0.25, 0.5, 3.0], "SIGMOID": [0.2, -0.1, 0.0]}
    for kernel, parameters in kernels.items():
        common = {"kernel_type": kernel} | ({"kernel_params": parameters} if parameters else {})
        numbers = lambda n: [float(v) for v in data((n,)) / 2]
        count = 6
        support = {"support_vectors": numbers(count * FEATURES), "n_supports": count, "coefficients": numbers(count)}
        x = table(np.float32)
        yield case(f"svr-{kernel}", "SVMRegressor", {"x": x}, rho=[0.25], tolerance=1e-4, **support, **common)
        yield case(f"svr-one-class-{kernel}", "SVMRegressor", {"x": x}, rho=[0.25], one_class=1, **support, **common)
        yield case(f"svr-no-vectors-{kernel}", "SVMRegressor", {"x": x}, rho=[0.25], coefficients=numbers(FEATURES), tolerance=1e-4, **common)
        for perClass in ([3, 4], [2, 3, 2], [2, 1, 3, 2]):
            n, classes = sum(perClass), len(perClass)
            svc = {"support_vectors": numbers(n * FEATURES), "coefficients": numbers(n * (classes - 1)), "vectors_per_class": perClass,
                   "rho": numbers(classes * (classes - 1) // 2), "classlabels_ints": [5, 2, 9, 4][:classes]}
            for transform in ("NONE", "LOGISTIC", "SOFTMAX") if kernel == "RBF" else ("NONE",):
                yield case(f"svc-{kernel}-{classes}-{transform}", "SVMClassifier", {"x": x}, ("label", "scores"), post_transform=transform,
                           tolerance=1e-4, **svc, **common)
        two = {"support_vectors": numbers(7 * FEATURES), "coefficients": numbers(7), "vectors_per_class": [3, 4], "rho": [0.1],
               "prob_a": [-1.5], "prob_b": [0.2], "classlabels_ints": [4, 9]}
        # A larger tolerance: ONNX Runtime stops the iteration that computes probabilities early.
        yield case(f"svc-{kernel}-probabilities", "SVMClassifier", {"x": x}, ("label", "scores"), tolerance=5e-3, **two, **common)
        for perClass in ([2, 1, 3], [1, 2, 1, 2], [1] * 10):
            n, classes = sum(perClass), len(perClass)
            pairs = classes * (classes - 1) // 2
            more = {"support_vectors": numbers(n * FEATURES), "coefficients": numbers(n * (classes - 1)), "vectors_per_class": perClass, "rho": numbers(pairs),
                    "prob_a": [-abs(v) - 0.5 for v in numbers(pairs)], "prob_b": numbers(pairs), "classlabels_ints": list(range(classes))}
            yield case(f"svc-{kernel}-probabilities-{classes}", "SVMClassifier", {"x": x}, ("label", "scores"), tolerance=5e-3, **more, **common)
        linear = {"coefficients": numbers(3 * FEATURES), "rho": [0.5], "classlabels_ints": [4, 9, 1]}
        yield case(f"svc-{kernel}-no-vectors", "SVMClassifier", {"x": x}, ("label", "scores"), tolerance=1e-4, **linear, **common)
    for dtype in (np.float64, np.int64, np.int32):
        support = {"support_vectors": numbers(3 * FEATURES), "coefficients": numbers(3), "vectors_per_class": [1, 2], "rho": [0.1], "classlabels_ints": [4, 9],
                   "kernel_params": [0.0, 0.0, 0.0]}
        yield case(f"svc-{np.dtype(dtype).name}", "SVMClassifier", {"x": table(dtype)}, ("label", "scores"), tolerance=1e-4, **support)


def labels():
    x, f = data((4, 6), np.int64, 6), (data((4, 6), np.int64, 6) / 2).astype(np.float32)
    f[0, :2] = np.nan
    ints, floats = [3, 1, 5, 2], [0.5, 2.5, 1.0, 0.0]
    yield case("labels-int-int", "LabelEncoder", {"x": x}, keys_int64s=ints, values_int64s=[10, 20, 30, 40], default_int64=7)
    yield case("labels-int-float", "LabelEncoder", {"x": x}, keys_int64s=ints, values_floats=floats, default_float=-2.0)
    yield case("labels-float-int", "LabelEncoder", {"x": f}, keys_floats=floats, values_int64s=ints)
    yield case("labels-float-float", "LabelEncoder", {"x": f}, keys_floats=floats, values_floats=[1.0, 2.0, 3.0, 4.0])
    yield case("labels-nan", "LabelEncoder", {"x": f}, version=4, keys_floats=floats[:3] + [float("nan")], values_floats=[1.0, 2.0, 3.0, 4.0])
    tensor = lambda values, dtype: numpy_helper.from_array(np.array(values, dtype))
    for key, value in itertools.product((np.float64, np.int64), (np.float64, np.int64)):
        yield case(f"labels-tensors-{np.dtype(key).name}-{np.dtype(value).name}", "LabelEncoder", {"x": (2 * f).astype(key) if key == np.float64 else x}, version=4,
                   keys_tensor=tensor(ints, key), values_tensor=tensor([10, 20, 30, 40], value), default_tensor=tensor([-5], value))
    for dtype in NUMBERS:
        x = data((3, 4), np.int64, 6).astype(dtype)
        if dtype == np.int32:
            continue  # ONNX Runtime has no kernel
        yield case(f"one-hot-{np.dtype(dtype).name}", "OneHotEncoder", {"x": x}, cats_int64s=[4, 0, 2], zeros=1)
        yield case(f"one-hot-row-{np.dtype(dtype).name}", "OneHotEncoder", {"x": x[0]}, cats_int64s=[4, 0, 2], zeros=1)
    for labels, rows in itertools.product(({"classlabels_int64s": [3, 7, 5]}, {"classlabels_strings": ["a", "b", "c"]}), (1, 5, 256)):
        scores = data((rows, 3))
        yield case(f"zip-{next(iter(labels))}-{rows}", "ZipMap", {"x": scores}, want=[scores], **labels)


if __name__ == "__main__":
    sys.exit(compare(__doc__, features(), linear(), machines(), labels(), refused=()))
