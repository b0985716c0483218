"""Tensors of strings: moves, comparisons, encoders, text. Beside ONNX Runtime.

    strings.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]
"""
import itertools
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from beside_onnxruntime import Case, compare, contrib, data, one, rng

WORDS = ["", "a", "abc", "abcd", "Köln", "東京", "x" * 300, "ab\ncd", '"\\%s']


def words(*shape):
    return np.array(WORDS, object)[rng.integers(0, len(WORDS), shape)]


def ml(name, op, inputs, outputs=("y",), version=2, want=None, tolerance=1e-5, **attributes):
    node = helper.make_node(op, list(inputs), list(outputs), domain="ai.onnx.ml", **attributes)
    result = Case(name, [node], inputs, outputs=outputs, want=want, tolerance=tolerance)
    result.model.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
    return result


def moves():
    x, y = words(3, 4), words(3, 4)
    index = np.array([2, 0, 1, -1], np.int64)
    yield one("identity", "Identity", {"x": x})
    yield one("reshape", "Reshape", {"x": x}, {"s": np.array([2, 6], np.int64)})
    yield one("transpose", "Transpose", {"x": x}, perm=[1, 0])
    yield one("concat", "Concat", {"x": x, "y": y}, axis=1)
    yield one("concat-constant", "Concat", {"x": x}, {"y": y}, axis=0)
    yield one("gather", "Gather", {"x": x, "i": index}, axis=1)
    yield one("gather-constant", "Gather", {"i": index}, {"x": words(5)}, order=["x", "i"])
    yield one("slice", "Slice", {"x": x}, {"s": np.array([3], np.int64), "e": np.array([-5], np.int64), "a": np.array([1], np.int64), "t": np.array([-2], np.int64)})
    yield one("expand", "Expand", {"x": words(3, 1)}, {"s": np.array([2, 3, 5], np.int64)})
    yield one("tile", "Tile", {"x": x}, {"s": np.array([2, 2], np.int64)})
    yield one("split", "Split", {"x": x}, {"s": np.array([1, 3], np.int64)}, outputs=("p", "q"), axis=1)
    yield one("where", "Where", {"c": data((3, 4), np.bool_), "x": x, "y": y})
    yield one("where-constant", "Where", {"c": data((3, 1), np.bool_)}, {"x": words(1, 4), "y": words(1)})
    yield one("equal", "Equal", {"x": words(40), "y": words(40)}, opset=19)
    yield one("equal-constant", "Equal", {"x": words(6, 7)}, {"y": words(7)}, opset=19)
    # A comparison after a transpose, and a selection by the result of the comparison.
    nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("Equal", ["t", "y"], ["e"]),
             helper.make_node("Where", ["e", "t", "y"], ["out"])]
    yield Case("chain", nodes, {"x": words(4, 5), "y": words(5, 4)}, opset=19)
    # Columns with two readers.
    nodes = [helper.make_node("Slice", ["x", "s", "e", "a"], ["c"]), helper.make_node("Concat", ["c", "c"], ["out"], axis=0),
             helper.make_node("Transpose", ["c"], ["t"], perm=[1, 0])]
    yield Case("slice-twice", nodes, {"x": x}, {"s": np.array([1], np.int64), "e": np.array([3], np.int64), "a": np.array([1], np.int64)}, ("out", "t"))


def encoders():
    keys = ["abc", "", "Köln", "abc"]
    x = words(4, 6)
    yield ml("encode-int", "LabelEncoder", {"x": x}, keys_strings=keys, values_int64s=[3, 1, 4, 1], default_int64=-7)
    yield ml("encode-float", "LabelEncoder", {"x": x}, keys_strings=keys, values_floats=[0.5, 1.5, 2.5, 3.5])
    yield ml("encode-string", "LabelEncoder", {"x": x}, keys_strings=keys, values_strings=["p", "q", "r", "s"], default_string="none")
    numbers = rng.integers(0, 6, (9,))
    yield ml("decode-int", "LabelEncoder", {"x": numbers}, keys_int64s=[1, 2, 5], values_strings=["one", "two", ""])
    yield ml("decode-float", "LabelEncoder", {"x": numbers.astype(np.float32)}, keys_floats=[1.0, 2.0], values_strings=["one", "two"], default_string="?")
    yield ml("classes-to-int", "LabelEncoder", {"x": words(7)}, version=1, classes_strings=["abc", "a", ""], default_int64=9)
    yield ml("classes-to-string", "LabelEncoder", {"x": numbers}, version=1, classes_strings=["zero", "one", "two"], default_string="?")
    yield ml("map-to-int", "CategoryMapper", {"x": words(3, 5)}, version=1, cats_strings=["a", "abcd", ""], cats_int64s=[10, 20, 30])
    yield ml("map-to-string", "CategoryMapper", {"x": numbers}, version=1, cats_strings=["a", "abcd", ""], cats_int64s=[1, 2, 3])
    yield ml("classes-again", "LabelEncoder", {"x": words(9)}, version=1, classes_strings=["abc", "a", "abc", "a"])
    # CategoryMapper with duplicate strings and numbers, with a default value, and on tensors without elements.
    again = {"cats_strings": ["a", "abcd", "a"], "cats_int64s": [1, 2, 2]}
    for shape in ((7,), (1,), (2, 1, 3), (0, 3)):
        name = "x".join(map(str, shape))
        yield ml(f"map-to-int-{name}", "CategoryMapper", {"x": words(*shape)}, version=1, default_int64=-9, **again)
        yield ml(f"map-to-string-{name}", "CategoryMapper", {"x": rng.integers(0, 4, shape)}, version=1, default_string="none", **again)
    yield ml("one-hot", "OneHotEncoder", {"x": words(3, 5)}, version=1, cats_strings=["a", "Köln", "", "abcd"])
    for mode in ("TF", "IDF", "TFIDF"):
        yield one(f"tfidf-{mode}", "TfIdfVectorizer", {"x": words(3, 12)}, mode=mode, min_gram_length=1, max_gram_length=2, max_skip_count=1,
                  ngram_counts=[0, 3], ngram_indexes=[0, 2, 1, 3, 4], pool_strings=["a", "", "abc", "a", "abc", "", ""],
                  weights=[1.0, 2.0, 0.5, 3.0, 1.5])


def classifiers():
    x = rng.standard_normal((9, 4)).astype(np.float32)
    for names in (["cat", "dog"], ["cat", "", "Köln"]):
        yield ml(f"linear-{len(names)}", "LinearClassifier", {"x": x}, ("label", "scores"), 1, classlabels_strings=names, post_transform="SOFTMAX",
                 coefficients=rng.standard_normal(4 * len(names)).astype(np.float32).tolist(), intercepts=[0.1] * len(names))
    for names, rows in itertools.product((["cat", "dog"], ["cat", "", "Köln"]), (1, 256)):
        x, vectors = rng.standard_normal((rows, 4)).astype(np.float32), 2 * len(names)
        count, pairs = vectors * (len(names) - 1), len(names) * (len(names) - 1) // 2
        for more in ({}, {"prob_a": [-1.5] * pairs, "prob_b": [0.25] * pairs}):
            yield ml(f"vectors-{len(names)}-{rows}-{len(more)}", "SVMClassifier", {"x": x}, ("label", "scores"), 1, classlabels_strings=names,
                     kernel_type="RBF", kernel_params=[0.3, 0.0, 0.0], support_vectors=rng.standard_normal(4 * vectors).astype(np.float32).tolist(),
                     coefficients=rng.standard_normal(count).astype(np.float32).tolist(), vectors_per_class=[2] * len(names),
                     rho=[0.1] * pairs, tolerance=5e-3 if more else 1e-5, **more)
    tree = dict(nodes_treeids=[0] * 5, nodes_nodeids=list(range(5)), nodes_featureids=[0, 1, 0, 0, 0], nodes_values=[0.1, -0.2, 0.0, 0.0, 0.0],
                nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"], nodes_truenodeids=[1, 3, 0, 0, 0],
                nodes_falsenodeids=[2, 4, 0, 0, 0], class_treeids=[0] * 3, class_nodeids=[2, 3, 4], class_ids=[0, 1, 2], class_weights=[1.0, 1.0, 1.0])
    yield ml("trees", "TreeEnsembleClassifier", {"x": x}, ("label", "scores"), 1, classlabels_strings=["red", "green", "blue"], **tree)


def strings(*values):
    return np.array(values, object)


def text():
    x = strings("Monday", "tuesday", "WEDNESDAY", "monday", "Äpfel")
    # StringNormalizer: the expected results are given, since ONNX Runtime needs a locale of the machine.
    def normalized(name, x, want, **attributes):
        case = one("normalize-" + name, "StringNormalizer", {"x": x}, **attributes)
        case.want = [want]
        return case
    yield normalized("nothing", x, x)
    yield normalized("upper", x[:4], strings("MONDAY", "TUESDAY", "WEDNESDAY", "MONDAY"), case_change_action="UPPER")
    yield normalized("stop", x, strings("Monday", "WEDNESDAY", "Äpfel"), is_case_sensitive=1, stopwords=["monday", "tuesday"])
    yield normalized("stop-lower", x, strings("wednesday", "äpfel"), case_change_action="LOWER", stopwords=["MONDAY", "tuesday"])
    # Unicode's simple case mappings: letters of one to four bytes in UTF-8, some of which become longer or
    # shorter. Letters without a mapping and invalid UTF-8 are unchanged.
    letters = strings("Été", "ÀÉÎÕÜ ÿ", "ẞ ß ŉ", "ΑΣς Άώ", "Жук", "İıIi", "ⱥȺ ɫⱢ", "ǅ ǆ Ǆ", "ᾳ ᾼ", "𐐀𐐨 𞤀", "ა Ა ⴀ", "日本 123")
    yield normalized("unicode-lower", letters, strings("été", "àéîõü ÿ", "ß ß ŉ", "ασς άώ", "жук", "iıii", "ⱥⱥ ɫɫ", "ǆ ǆ ǆ", "ᾳ ᾳ", "𐐨𐐨 𞤢", "ა ა ⴀ", "日本 123"),
                     case_change_action="LOWER")
    yield normalized("unicode-upper", letters, strings("ÉTÉ", "ÀÉÎÕÜ Ÿ", "ẞ ß ŉ", "ΑΣΣ ΆΏ", "ЖУК", "İIII", "ȺȺ ⱢⱢ", "Ǆ Ǆ Ǆ", "ᾼ ᾼ", "𐐀𐐀 𞤀", "Ა Ა Ⴀ", "日本 123"),
                     case_change_action="UPPER")
    yield normalized("unicode-stop", letters[:5], strings("ÀÉÎÕÜ ÿ", "ẞ ß ŉ", "ΑΣς Άώ"), stopwords=["ÉTÉ", "жуК"])
    yield normalized("all", x[None, :1], strings("").reshape(1, 1), case_change_action="LOWER", stopwords=["monday"])
    yield one("join", "StringConcat", {"x": words(3, 4), "y": words(4)}, opset=20)
    yield one("join-constant", "StringConcat", {"x": words(5)}, {"y": strings("-", "", "+", "x", "é")}, opset=20)
    # StringSplit, on strings for which ONNX Runtime agrees with Python's split: not on empty strings, nor on white
    # space at the end of the unsplit rest.
    lines = strings("a,b,,c", "no delimiter", ",x,", "日本,語", ",,", " lead and  trail")
    for i, attributes in enumerate(({"delimiter": ","}, {"delimiter": ",,"}, {}, {"delimiter": ",", "maxsplit": 1}, {"maxsplit": 2})):
        yield one(f"split-{i}", "StringSplit", {"x": lines}, outputs=("pieces", "counts"), opset=20, **attributes)
    yield one("split-rows", "StringSplit", {"x": strings("a b", "c", "d e f", "").reshape(2, 2)}, outputs=("pieces", "counts"), opset=20)
    # Numbers as text: the ends of each type, every length, booleans, rows.
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        ends = np.iinfo(dtype)
        yield one(f"cast-{np.dtype(dtype).name}", "Cast", {"x": np.array([0, ends.min, ends.max, 7, 10, 99, 100], dtype)}, to=TensorProto.STRING)
    yield one("cast-lengths", "Cast", {"x": np.array([[sign * 10**k - below for k in range(19)] for sign in (1, -1) for below in (0, 1)], np.int64)}, to=TensorProto.STRING)
    yield one("cast-bool", "Cast", {"x": np.array([True, False])}, to=TensorProto.STRING)
    yield one("cast-like", "CastLike", {"x": np.array(-120)}, {"y": strings("a")}, opset=19)
    yield from tokens()
    samples = strings("", "a", "ab", "aab", "www.google.com", "account@gmail.com", "Ä", "äö", "2024-01-31", "0x1F", "a\nb", "aaaa", "x-y_z", "]", "\\")
    patterns = ["", "a*b", r"www\.[\w.-]+\.\bcom\b", r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", r".", r"..?", r"\d{4}-\d\d-\d{2}",
                r"0x[0-9A-Fa-f]+", r"(a|b|\n)+", r"a{2,}", r"a{1,3}?", r"[^a]*", r"[\]\\]", r"[a-z_-]+", r"^(?:ä|ö){2}$", r"\W", r"(a?){5}", r"(^a|b$)+", r"(\b\w+\b\W*)*", r"\w\B\w", r"a\Bb|\b"]
    for i, pattern in enumerate(patterns):
        yield one(f"regex-{i}", "RegexFullMatch", {"x": samples}, opset=20, pattern=pattern)


def tokens():
    """Tokenizer with a regular expression: the longest match is a token, and the next match starts at its end.
    In some cases a match begins but fails."""
    lines = strings("The cat, the DOG_7", "", "aaab aa aab", "Köln und 東京", "ababc abcd ab", "a\nb  c!")
    for i, (pattern, least) in enumerate((("[a-zA-Z0-9_]+", 1), (r"\w\w+", 1), (".", 1), ("a+b|a", 1), ("a+b", 1), ("([a-z]|ö|京|東)+", 3), ("(ab)+(c|cde)?", 2), ("[^ ]*", 1), ("q+", 1))):
        for shape in ((6,), (2, 3)):
            yield contrib(f"tokens-{i}-{len(shape)}", "Tokenizer", {"x": lines.reshape(shape)}, mark=0, mincharnum=least, pad_value="#", tokenexp=pattern)
    yield contrib("tokens-characters", "Tokenizer", {"x": lines}, mark=0, mincharnum=1, pad_value="", separators=[""])
    yield contrib("tokens-pad", "Tokenizer", {"x": lines[:1]}, mark=0, mincharnum=4, pad_value="none of it", tokenexp="[a-z]+")


sys.exit(compare(__doc__, moves(), encoders(), classifiers(), text(), refused=()))
