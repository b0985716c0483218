"""Prints a chain of operators each of which reads the one before it twice.

    many_paths.py LENGTH constants|views|moves

They depend on no input (constants), are views of the result of a group (views), or move elements in the
body of a group (moves).
"""
import sys

length, kind = int(sys.argv[1]), sys.argv[2]


def group(result, inputs, body, shape, strategy="elementwise"):
    """Returns a group whose body reads its arguments as %a0, %a1 ... and computes %r."""
    types = ", ".join(f"tensor<{of}>" for _, of in inputs)
    arguments = ", ".join(f"%a{i}: tensor<{of}>" for i, (_, of) in enumerate(inputs))
    block = f"\n  ^bb0({arguments}):" if inputs else ""
    return f"""  {result} = graph.group "{strategy}"({", ".join(name for name, _ in inputs)}) : ({types}) -> tensor<{shape}> {{{block}
{body}
    graph.yield %r : tensor<{shape}>
  }}"""


def join(result, operand, size):
    return f"{result} = graph.concat {operand}, {operand} {{axis = 1 : i64}} : (tensor<8x{size}xf32>, tensor<8x{size}xf32>) -> tensor<8x{2 * size}xf32>"


def halve(result, operand, size):
    return (f"{result} = graph.slice {operand} {{starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}} : "
            f"(tensor<8x{size}xf32>) -> tensor<8x{size // 2}xf32>")


size = 1 << 16
shape = f"8x{size}xf32"
exp = f"    %r = graph.exp %a0 : (tensor<{shape}>) -> tensor<{shape}>"
lines = [f"func.func @main(%x: tensor<{shape}>) -> tensor<{shape}> {{"]
if kind == "constants":
    lines.append(group("%v0", [], f"    %r = graph.constant dense<1.0> : tensor<{shape}> : tensor<{shape}>", shape))
    add = f"    %r = graph.add %a0, %a1 : (tensor<{shape}>, tensor<{shape}>) -> tensor<{shape}>"
    lines += [group(f"%v{i + 1}", [(f"%v{i}", shape)] * 2, add, shape) for i in range(length)]
    lines += [group("%y", [("%x", shape), (f"%v{length}", shape)], add, shape)]
elif kind == "views":
    lines += [group("%v0", [("%x", shape)], exp, shape)]
    for i in range(length):
        lines += ["  " + join(f"%j{i}", f"%v{i}", size), "  " + halve(f"%v{i + 1}", f"%j{i}", 2 * size)]
    lines += [group("%y", [(f"%v{length}", shape)], exp, shape)]
else:
    lines += [group("%v0", [("%x", shape)], exp, shape)]
    body = []
    for i in range(length):
        body += ["    " + join(f"%j{i}", f"%w{i}" if i else "%a0", size),
                 "    " + halve(f"%w{i + 1}" if i + 1 < length else "%r", f"%j{i}", 2 * size)]
    lines += [group("%v1", [("%v0", shape)], "\n".join(body), shape, "loop-nest")]
    lines += [group("%y", [("%v1", shape)], exp, shape)]
print("\n".join(lines) + f"\n  return %y : tensor<{shape}>\n}}")
