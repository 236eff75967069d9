// SPDX-License-Identifier: Apache-2.0
// Outputs of several types.
func.func @main(%x: tensor<3xf16>) -> (tensor<3xf16>, tensor<3xbf16>, tensor<3xi8>, tensor<3xui64>, tensor<3xi1>) {
  %c = graph.constant dense<[1.5, 0.0, 3.0]> : tensor<3xf16>
  %z = graph.sub %x, %x : tensor<3xf16>
  %h = graph.add %z, %c : tensor<3xf16>
  %b = graph.cast %h {to = bf16} : (tensor<3xf16>) -> tensor<3xbf16>
  %i = graph.cast %h {to = i8} : (tensor<3xf16>) -> tensor<3xi8>
  %u = graph.cast %h {to = ui64} : (tensor<3xf16>) -> tensor<3xui64>
  %t = graph.cast %h {to = i1} : (tensor<3xf16>) -> tensor<3xi1>
  return %h, %b, %i, %u, %t : tensor<3xf16>, tensor<3xbf16>, tensor<3xi8>, tensor<3xui64>, tensor<3xi1>
}
