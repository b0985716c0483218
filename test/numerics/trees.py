"""Decision tree ensembles beside ONNX Runtime.

    trees.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Random trees with every comparison, missing values, several targets; features
often equal thresholds. Inputs come from a fixed seed.
"""
import itertools
import statistics
import sys

import numpy as np
from onnx import helper, numpy_helper

from beside_onnxruntime import Case, compare, rng, run

FEATURES = 6
MEMBER = 6  # the mode BRANCH_MEMBER: the element is in a set


def forest(kind, trees, depth, targets, modes, missing, at_leaf=2):
    """Returns the attributes of random trees; each leaf has `at_leaf` contributions, some to the same
    target."""
    a = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    c = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}

    def add(tree, level):
        node = ids[tree]
        ids[tree] += 1
        leaf = level == depth or (level > 1 and rng.random() < 0.2)
        place = len(a["nodeids"])
        for key, value in (("treeids", tree), ("nodeids", node), ("featureids", 0 if leaf else int(rng.integers(FEATURES))),
                           ("values", 0.0 if leaf else float(rng.integers(-3, 4)) / 2), ("modes", "LEAF" if leaf else str(rng.choice(modes))),
                           ("truenodeids", 0), ("falsenodeids", 0), ("missing_value_tracks_true", int(missing and rng.random() < 0.5))):
            a[key].append(value)
        if leaf:
            for target in sorted(set(rng.integers(0, targets, at_leaf).tolist())):
                for key, value in (("treeids", tree), ("nodeids", node), ("ids", target), ("weights", float(rng.standard_normal()))):
                    c[key].append(value)
        else:
            a["truenodeids"][place] = add(tree, level + 1)
            a["falsenodeids"][place] = add(tree, level + 1)
        return node

    ids = [0] * trees
    for tree in range(trees):
        add(tree, 0)
    return {**{f"nodes_{k}": v for k, v in a.items()}, **{f"{kind}_{k}": v for k, v in c.items()}}


def case(name, op, rows, outputs, version=3, dtype=np.float32, above=4, tolerance=1e-5, **attributes):
    x = rng.integers(-3, above, (rows, FEATURES)).astype(dtype) / 2
    if "missing" in name:
        x[rng.random(x.shape) < 0.2] = np.nan
    node = helper.make_node(op, ["x"], outputs, domain="ai.onnx.ml", **attributes)
    result = Case(name, [node], {"x": x}, outputs=outputs, tolerance=tolerance)
    result.model.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
    return result


def ensembles():
    every = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    for mode in every:
        for missing in (False, True):
            yield case(f"{mode.lower()}{'-missing' if missing else ''}", "TreeEnsembleRegressor", 50, ["y"], n_targets=1,
                       **forest("target", 3, 4, 1, [mode], missing))
            infinite = forest("target", 3, 4, 1, [mode], missing)
            infinite["nodes_values"] = [-np.inf if i % 2 else np.inf for i in range(len(infinite["nodes_values"]))]
            for rows in (3, 50):
                made = case(f"{mode.lower()}-infinite-{rows}{'-missing' if missing else ''}", "TreeEnsembleRegressor", rows, ["y"], n_targets=1, **infinite)
                made.inputs["x"][:, ::2] = rng.choice([-np.inf, np.inf, 0], made.inputs["x"][:, ::2].shape)
                yield made
    # Batches whose rows fill vectors or do not, and trees with so many leaves that a bit mask of leaves needs several
    # words.
    for rows in (32, 37):
        for targets in (1, 3):
            for missing in ("", "-missing"):
                yield case(f"words-{rows}-{targets}{missing}", "TreeEnsembleRegressor", rows, ["y"], n_targets=targets, base_values=[0.5] * targets,
                           **forest("target", 20, 8, targets, every, bool(missing), at_leaf=1))
    for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
        yield case(f"regressor-{aggregate.lower()}", "TreeEnsembleRegressor", 30, ["y"], n_targets=3, aggregate_function=aggregate,
                   base_values=[0.5, -1.0, 2.0], **forest("target", 9, 6, 3, every, False))
    for transform in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        for targets in (1, 3):
            yield case(f"regressor-{transform.lower()}-{targets}", "TreeEnsembleRegressor", 30, ["y"], n_targets=targets, post_transform=transform,
                       **forest("target", 9, 4, targets, every, False))
    for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        yield case(f"classifier-{transform.lower()}", "TreeEnsembleClassifier", 30, ["label", "scores"], classlabels_int64s=[7, 3, 5],
                   post_transform=transform, **forest("class", 9, 6, 3, every, False))
    for transform in ("NONE", "LOGISTIC"):
        yield case(f"binary-{transform.lower()}", "TreeEnsembleClassifier", 30, ["label", "scores"], classlabels_int64s=[4, 9],
                   post_transform=transform, base_values=[0.25], **forest("class", 9, 6, 1, every, False))
    # A stump with one leaf for each half of a feature: two classes, and all leaves contribute to the same
    # one.
    stump = dict(nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2], nodes_featureids=[0] * 3, nodes_values=[0.25, 0.0, 0.0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
                 nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], class_treeids=[0, 0], class_nodeids=[1, 2], class_ids=[0, 0], classlabels_int64s=[4, 9])
    for weights, base, transform in itertools.product(((0.3, 0.8), (-0.3, 0.8), (0.2, 0.4), (-0.3, -0.8)), ([], [0.25]), ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")):
        name = f"one-score-{weights[0]}-{weights[1]}-{len(base)}-{transform.lower()}"
        made = case(name, "TreeEnsembleClassifier", 9, ["label", "scores"], class_weights=weights, post_transform=transform, **({"base_values": base} if base else {}), **stump)
        if transform == "PROBIT" or min(weights) < 0 and base:
            # ONNX Runtime omits half of PROBIT, and treats negative weights differently if there are base
            # values.
            score = np.where(made.inputs["x"][:, 0] <= 0.25, *weights) + sum(base)
            made.want = one_score(score, min(weights) >= 0, transform)
            made.tolerance = 3e-3 if transform == "PROBIT" else made.tolerance  # the error of ONNX Runtime's inverse of erf
        yield made


def one_score(score, positive, transform):
    """Returns labels and scores of two classes by the operator's specification."""
    labels = np.where(score > (0.5 if positive else 0), 9, 4)
    if transform == "PROBIT":
        inside = [statistics.NormalDist().inv_cdf(p) if 0 < p < 1 else np.nan for p in score]
        second = np.array(inside)
        return [labels, np.stack([-second, second], 1).astype(np.float32)]
    if transform == "LOGISTIC":
        second = 1 / (1 + np.exp(-score))
        return [labels, np.stack([1 - second, second], 1).astype(np.float32)]
    return [labels, np.stack([1 - score if positive else -score, score], 1).astype(np.float32)]


def ensemble(trees, depth, targets, modes, missing, dtype):
    """Returns the attributes of random trees in version 5: separate decisions and leaves, and membership
    in sets.

    ONNX Runtime is correct only for sets of positive integers."""
    nodes = {k: [] for k in ("featureids", "splits", "modes", "truenodeids", "falsenodeids", "trueleafs", "falseleafs", "missing_value_tracks_true")}
    leaves, members, roots = {"targetids": [], "weights": []}, [], []

    def way(level):
        if level == depth or (level > 1 and rng.random() < 0.2):
            leaves["targetids"].append(int(rng.integers(targets)))
            leaves["weights"].append(rng.standard_normal())
            return len(leaves["weights"]) - 1, 1
        return decide(level), 0

    def decide(level):
        mode, place = int(rng.choice(modes)), len(nodes["modes"])
        for key, value in (("featureids", int(rng.integers(FEATURES))), ("splits", rng.integers(-3, 4) / 2), ("modes", mode),
                           ("missing_value_tracks_true", int(missing and rng.random() < 0.5)), ("truenodeids", 0), ("falsenodeids", 0),
                           ("trueleafs", 0), ("falseleafs", 0)):
            nodes[key].append(value)
        if mode == MEMBER:
            members.extend([*rng.choice(np.arange(1, 6), int(rng.integers(1, 5)), replace=False), np.nan])
        for side in ("true", "false"):
            nodes[f"{side}nodeids"][place], nodes[f"{side}leafs"][place] = way(level + 1)
        return place

    roots = [decide(0) for _ in range(trees)]
    tensor = lambda values, kind=dtype: numpy_helper.from_array(np.array(values, kind))
    return {f"nodes_{k}": v for k, v in nodes.items()} | {
        "nodes_splits": tensor(nodes["splits"]), "nodes_modes": tensor(nodes["modes"], np.uint8), "leaf_targetids": leaves["targetids"],
        "leaf_weights": tensor(leaves["weights"]), "tree_roots": roots, "n_targets": targets} | (
        {"membership_values": tensor(members)} if members else {})


def exact():
    """Forests on one row and on many rows, also with string labels, compared bit by bit. Leaf weights are
    multiples of 1/64, so that sums are exact: rounded sums of ONNX Runtime depend on its number of
    threads."""
    def rounded(kind, *arguments):
        attributes = forest(kind, *arguments)
        return attributes | {f"{kind}_weights": [round(w * 64) / 64 for w in attributes[f"{kind}_weights"]]}

    every = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    for rows, targets, missing in itertools.product((1, 256), (1, 3), ("", "-missing")):
        yield case(f"exact-{rows}-{targets}{missing}", "TreeEnsembleRegressor", rows, ["y"], n_targets=targets, tolerance=0.0,
                   base_values=[0.25] * targets, **rounded("target", 30, 6, targets, every, bool(missing)))
    for rows, names in itertools.product((1, 256), (["no", "yes"], ["red", "", "Köln"], ["a", "b", "c", "d", "e"])):
        scores = 1 if len(names) == 2 else len(names)
        yield case(f"exact-labels-{rows}-{len(names)}", "TreeEnsembleClassifier", rows, ["label", "scores"], classlabels_strings=names, tolerance=0.0,
                   **rounded("class", 30, 6, scores, every[:2], False))


def joined():
    """TreeEnsemble of version 5, which replaces the classifier and the regressor of older versions."""
    for mode in range(MEMBER + 1):
        yield case(f"joined-mode-{mode}-missing", "TreeEnsemble", 50, ["y"], version=5, above=12, **ensemble(3, 4, 1, [mode], True, np.float32))
    for dtype, rows in ((np.float32, 1), (np.float32, 256), (np.float64, 1), (np.float64, 256)):
        for targets in (1, 3):
            yield case(f"joined-{np.dtype(dtype).name}-{rows}-{targets}", "TreeEnsemble", rows, ["y"], version=5, dtype=dtype, above=12,
                       **ensemble(20, 6, targets, range(MEMBER + 1), False, dtype))
    # ONNX Runtime has no kernel for float16. The features and splits are exact in float16.
    for rows, targets in itertools.product((1, 40), (1, 3)):
        attributes = ensemble(5, 4, targets, range(6), False, np.float32)
        result = case(f"joined-float16-{rows}-{targets}", "TreeEnsemble", rows, ["y"], version=5, **attributes)
        want = run(result)[0]
        narrow = {k: numpy_helper.from_array(numpy_helper.to_array(attributes[k]).astype(np.float16)) for k in ("nodes_splits", "leaf_weights")}
        result = Case(result.name, [helper.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **(attributes | narrow))],
                      {"x": result.inputs["x"].astype(np.float16)}, outputs=["y"], tolerance=5e-3, want=[want.astype(np.float16)])
        result.model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 5))
        yield result
    for aggregate in range(4):
        yield case(f"joined-aggregate-{aggregate}", "TreeEnsemble", 30, ["y"], version=5, aggregate_function=aggregate,
                   **ensemble(9, 5, 3, [0], False, np.float32))
        # A target to which no leaf contributes.
        yield case(f"joined-aggregate-{aggregate}-nothing", "TreeEnsemble", 30, ["y"], version=5, aggregate_function=aggregate,
                   **ensemble(1, 2, 5, [0], False, np.float32))
    # ONNX Runtime swaps the standard's numbers of two transforms, and does not transform single targets.
    for transform, function in ((1, softmax), (2, lambda x: 1 / (1 + np.exp(-x)))):
        for targets in (1, 3):
            attributes = ensemble(9, 4, targets, [0], False, np.float32)
            result = case(f"joined-transform-{transform}-{targets}", "TreeEnsemble", 30, ["y"], version=5, **attributes)
            result.want = [function(run(result)[0])]
            result.model.graph.node[0].attribute.append(helper.make_attribute("post_transform", transform))
            yield result
    yield case("joined-transform-3", "TreeEnsemble", 30, ["y"], version=5, post_transform=3, **ensemble(9, 4, 3, [0], False, np.float32))


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


if __name__ == "__main__":
    sys.exit(compare(__doc__, ensembles(), joined(), exact(), refused=()))
