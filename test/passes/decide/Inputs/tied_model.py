"""Prints a module whose last matmul uses the transpose of an embedding table as its weights."""
import struct

STEPS, WORDS = 32, 128
weights = [float(i * 7 % 11 + i % 5) for i in range(STEPS * WORDS)]
table = [weights[step * WORDS + word] for word in range(WORDS) for step in range(STEPS)]


def resource(numbers):
    return '"0x04000000' + b"".join(struct.pack("<f", number) for number in numbers).hex() + '"'


print(f"""
func.func @tied(%i: tensor<2xsi64>) -> tensor<2x{WORDS}xf32> {{
  %t = graph.constant dense_resource<table> : tensor<{WORDS}x{STEPS}xf32> : tensor<{WORDS}x{STEPS}xf32>
  %w = graph.constant dense_resource<weights> : tensor<{STEPS}x{WORDS}xf32> : tensor<{STEPS}x{WORDS}xf32>
  %x = graph.gather %t, %i {{axis = 0 : i64}} : (tensor<{WORDS}x{STEPS}xf32>, tensor<2xsi64>) -> tensor<2x{STEPS}xf32>
  %y = graph.matmul %x, %w : (tensor<2x{STEPS}xf32>, tensor<{STEPS}x{WORDS}xf32>) -> tensor<2x{WORDS}xf32>
  return %y : tensor<2x{WORDS}xf32>
}}
{{-# dialect_resources: {{ builtin: {{ table: {resource(table)}, weights: {resource(weights)} }} }} #-}}""")
