// Appends ["-", "abc"] to the strings of x, with space for 12 characters, and
// compares x with ["-", "abc"].
module {
  func.func @main(%x: tensor<2x!kernel.string> {kernel.onnx_name = "x", kernel.onnx_type = "string"})
      -> (tensor<2x!kernel.string> {kernel.onnx_name = "joined", kernel.onnx_type = "string"},
          tensor<2xi1> {kernel.onnx_name = "same", kernel.onnx_type = "bool"}) {
    %0 = graph.constant dense<[45, 0, 97, 98, 99, 0]> : tensor<6xui8> : tensor<6xui8>
    %1 = graph.constant dense<[0, 2]> : tensor<2xsi32> : tensor<2xsi32>
    %2 = graph.strings %0, %1 : (tensor<6xui8>, tensor<2xsi32>) -> tensor<2x!kernel.string>
    %characters, %begins, %used = graph.join_strings %x, %2 : (tensor<2x!kernel.string>, tensor<2x!kernel.string>) -> (tensor<12xui8>, tensor<2xsi64>, tensor<1xsi64>)
    graph.read_sizes %used {sizes = #kernel.sizes<"joined_count" in 0 to 12 : s0>} : (tensor<1xsi64>) -> ()
    %3 = graph.strings %characters, %begins : (tensor<12xui8>, tensor<2xsi64>) -> tensor<2x!kernel.string>
    %4 = graph.equal %x, %2 : (tensor<2x!kernel.string>, tensor<2x!kernel.string>) -> tensor<2xi1>
    return %3, %4 : tensor<2x!kernel.string>, tensor<2xi1>
  }
}
