"""Prints a chain of groups whose bodies differ in a constant.

    many_groups.py COUNT
"""
import sys

count = int(sys.argv[1])
print("func.func @main(%v0: tensor<8xf32>) -> tensor<8xf32> {")
for i in range(count):
    print(f"""  %v{i + 1} = graph.group "elementwise"(%v{i}) : (tensor<8xf32>) -> tensor<8xf32> {{
  ^bb0(%a: tensor<8xf32>):
    %b = graph.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    %k = graph.constant dense<{i}.0> : tensor<f32> : tensor<f32>
    %c = graph.add %b, %k : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    graph.yield %c : tensor<8xf32>
  }}""")
print(f"  return %v{count} : tensor<8xf32>\n}}")
