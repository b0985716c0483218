"""Prints two kernels with 60 diamonds: two elementwise operators read a value, and a third one reads both results. So there are 2^60
paths from the first value to the last. In one kernel, a convolution follows the diamonds; in the other one, a concatenation precedes them.
"""
COUNT = 60


def diamonds(first, kind):
    """Returns the lines of the diamonds and the name of the last value."""
    lines, value = [], first
    for i in range(COUNT):
        lines += [f"  %s{i} = graph.sin {value} : ({kind}) -> {kind}",
                  f"  %c{i} = graph.cos {value} : ({kind}) -> {kind}",
                  f"  %m{i} = graph.mul %s{i}, %c{i} : ({kind}, {kind}) -> {kind}"]
        value = f"%m{i}"
    return lines, value


image = "tensor<1x2x2x8xf32>"
lines, last = diamonds("%x", image)
print(f"""kernel.func @before(%x: {image}, %p: tensor<64xf32>) -> {image} attributes {{strategy = "convolution", \
plan = {{columns = 8, order = "tiles", rows = 2, splits = 1}}, comment = ""}} {{""")
print(*lines, sep="\n")
print(f"""  %w = graph.unpack_panels %p {{panel = 8 : i64, tail = 0 : i64, group = 1 : i64}} : (tensor<64xf32>) -> tensor<1x1x8x8xf32>
  %y = graph.conv {last}, %w {{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}} : \
({image}, tensor<1x1x8x8xf32>) -> {image}
  kernel.return %y : {image}
}}""")

half, row = "tensor<4x8xf32>", "tensor<4x16xf32>"
lines, last = diamonds("%j", row)
print(f"""kernel.func @after(%a: {half}, %b: {half}) -> {row} attributes {{strategy = "loop-nest", comment = ""}} {{
  %j = graph.concat %a, %b {{axis = 1 : i64}} : ({half}, {half}) -> {row}""")
print(*lines, sep="\n")
print(f"  kernel.return {last} : {row}\n}}")
