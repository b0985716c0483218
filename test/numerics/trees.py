"""Decision tree ensembles beside ONNX Runtime.

    trees.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Random trees with every comparison, missing values, several targets; features
often equal thresholds. Inputs come from a fixed seed.
"""
import sys

import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, rng

FEATURES = 6


def forest(kind, trees, depth, targets, modes, missing, at_leaf=2):
    """The attributes of random trees, so many contributions at the leaves, some to the same target."""
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


def case(name, op, rows, outputs, **attributes):
    x = rng.integers(-3, 4, (rows, FEATURES)).astype(np.float32) / 2
    if "missing" in name:
        x[rng.random(x.shape) < 0.2] = np.nan
    node = helper.make_node(op, ["x"], outputs, domain="ai.onnx.ml", **attributes)
    result = Case(name, [node], {"x": x}, outputs=outputs)
    result.model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return result


def ensembles():
    every = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    for mode in every:
        for missing in (False, True):
            yield case(f"{mode.lower()}{'-missing' if missing else ''}", "TreeEnsembleRegressor", 50, ["y"], n_targets=1,
                       **forest("target", 3, 4, 1, [mode], missing))
    # Rows that fill vectors and such that do not, leaves that fill several words of bits.
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


if __name__ == "__main__":
    sys.exit(compare(__doc__, ensembles()))
