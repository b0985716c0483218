// RUN: %ingot-opt %s -split-input-file -verify-diagnostics
// REQUIRES: ingot-opt

func.func @strings_of_words(%x: tensor<4xsi32>, %at: tensor<2xsi64>) {
  // expected-error @+1 {{has characters that are no list of bytes}}
  %r = graph.strings %x, %at : (tensor<4xsi32>, tensor<2xsi64>) -> tensor<2x!kernel.string>
  return
}

// -----

func.func @match_numbers(%x: tensor<4xsi32>, %next: tensor<3x256xui16>, %accepts: tensor<3xi1>) {
  // expected-error @+1 {{reads no strings}}
  %r = graph.match_string %x, %next, %accepts : (tensor<4xsi32>, tensor<3x256xui16>, tensor<3xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @match_some_bytes(%x: tensor<4x!kernel.string>, %next: tensor<3x128xui16>, %accepts: tensor<3xi1>) {
  // expected-error @+1 {{has no next state for each state and byte}}
  %r = graph.match_string %x, %next, %accepts : (tensor<4x!kernel.string>, tensor<3x128xui16>, tensor<3xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @join_shapes(%x: tensor<4x!kernel.string>, %y: tensor<2x!kernel.string>) {
  // expected-error @+1 {{joins strings of different shapes}}
  %c, %b, %u = graph.join_strings %x, %y
      : (tensor<4x!kernel.string>, tensor<2x!kernel.string>) -> (tensor<64xui8>, tensor<4xsi64>, tensor<1xsi64>)
  return
}

// -----

func.func @join_without_room(%x: tensor<4x!kernel.string>) {
  // expected-error @+1 {{has no room for characters}}
  %c, %b, %u = graph.join_strings %x
      : (tensor<4x!kernel.string>) -> (tensor<0xui8>, tensor<4xsi64>, tensor<1xsi64>)
  return
}

// -----

func.func @map_without_distances(%x: tensor<4x!kernel.string>, %ranges: tensor<8x3xsi32>) {
  // expected-error @+1 {{has no first, last, step and distance for each range}}
  %c, %b, %u = graph.map_letters %x, %ranges
      : (tensor<4x!kernel.string>, tensor<8x3xsi32>) -> (tensor<64xui8>, tensor<4xsi64>, tensor<1xsi64>)
  return
}

// -----

func.func @split_without_room(%x: tensor<4x!kernel.string>) {
  // expected-error @+1 {{has no room for pieces}}
  %c, %b, %n, %u = graph.split_strings %x {delimiter = ",", splits = -1 : i64}
      : (tensor<4x!kernel.string>) -> (tensor<64xui8>, tensor<4xsi64>, tensor<4xsi64>, tensor<2xsi64>)
  return
}

// -----

func.func @tokens_of_some_bytes(%x: tensor<4x!kernel.string>, %next: tensor<3x128xui16>, %accepts: tensor<3xi1>) {
  // expected-error @+1 {{has no next state for each state and byte}}
  %c, %b, %n, %u = graph.find_tokens %x, %next, %accepts {dead = 2 : i64, least = 1 : i64, pad = ""}
      : (tensor<4x!kernel.string>, tensor<3x128xui16>, tensor<3xi1>) -> (tensor<64xui8>, tensor<4x8xsi64>, tensor<4xsi64>, tensor<2xsi64>)
  return
}

// -----

func.func @tokens_without_room(%x: tensor<4x!kernel.string>, %next: tensor<3x256xui16>, %accepts: tensor<3xi1>) {
  // expected-error @+1 {{has no room for pieces}}
  %c, %b, %n, %u = graph.find_tokens %x, %next, %accepts {dead = 2 : i64, least = 1 : i64, pad = ""}
      : (tensor<4x!kernel.string>, tensor<3x256xui16>, tensor<3xi1>) -> (tensor<64xui8>, tensor<4x0xsi64>, tensor<4xsi64>, tensor<2xsi64>)
  return
}
