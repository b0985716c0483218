"""Sizes in generated headers: expressions of C as functions of Python and JavaScript, and headers that cannot be read."""

import pytest

import ingot
from ingot import _header


@pytest.mark.parametrize(
    ("text", "value", "javascript"),
    [
        ("8", 8, "8"),
        ("n", 7, "s.n"),
        ("n + m * 2", 13, "(s.n + (s.m * 2))"),
        ("(n - 1) / 2", 3, "Math.floor(((s.n - 1)) / 2)"),
        ("n % 4", 3, "(s.n % 4)"),
        ("n > m ? n : m", 7, "(s.n > s.m ? s.n : s.m)"),
        ("n == m ? 1 : n <= m ? 2 : 3", 3, "(s.n == s.m ? 1 : (s.n <= s.m ? 2 : 3))"),
        ("-n + 10", 3, "((-s.n) + 10)"),
    ],
)
def test_sizes(text, value, javascript):
    assert _header.size_function((text,), ["n", "m"])(7, 3) == (value,)
    assert _header.size_javascript((text,), ["n", "m"]) == f"(s) => [{javascript}]"


def test_names_that_are_words_of_python():
    assert _header.size_function(("lambda + 1", "if"), ["lambda", "if"])(2, 5) == (3, 5)


@pytest.mark.parametrize("text", ["(n", "q + 1", "n n", "__import__", "n ? 1"])
def test_sizes_that_cannot_be_read(text):
    for function in (_header.size_function, _header.size_javascript):
        with pytest.raises(ingot.InternalError, match="a size in the generated header cannot be read"):
            function((text,), ["n"])


def test_headers_that_cannot_be_read():
    with pytest.raises(ingot.InternalError, match="has no io struct"):
        _header.read_header("", "net")
    with pytest.raises(ingot.InternalError, match="a line of the generated header cannot be read: int x;"):
        _header.read_header("typedef struct net_io {\n  int x;\n} net_io;\n", "net")
    with pytest.raises(ingot.InternalError, match="a shape in the generated header cannot be read: 1,"):
        _header._split("1,")
