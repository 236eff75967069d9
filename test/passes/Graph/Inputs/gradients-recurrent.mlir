// Recurrent layers, in all their forms.
// Each function is differentiated and compared with finite differences; values
// are between `test.low` and `test.high`.

func.func @rnn(%x: tensor<3x2x2xf64>, %w: tensor<1x2x2xf64>, %r: tensor<1x2x2xf64>) -> (tensor<3x1x2x2xf64>, tensor<1x2x2xf64>) {
  %n = graph.none : none
  %y, %h = graph.rnn %x, %w, %r, %n, %n, %n {hidden_size = 2 : i64} : (tensor<3x2x2xf64>, tensor<1x2x2xf64>, tensor<1x2x2xf64>, none, none, none) -> (tensor<3x1x2x2xf64>, tensor<1x2x2xf64>)
  return %y, %h : tensor<3x1x2x2xf64>, tensor<1x2x2xf64>
}

// Two directions, sequences that end, batch first.
func.func @rnn_2(%x: tensor<2x3x1xf64>, %w: tensor<2x2x1xf64>, %r: tensor<2x2x2xf64>, %b: tensor<2x4xf64>, %i: tensor<2x2x2xf64>) -> (tensor<2x3x2x2xf64>, tensor<2x2x2xf64>) {
  %l = graph.constant dense<[3, 1]> : tensor<2xi32>
  %y, %h = graph.rnn %x, %w, %r, %b, %l, %i {hidden_size = 2 : i64, direction = "bidirectional", layout = 1 : i64, activations = "Tanh,Affine", activation_alpha = array<f32: 0.5>, activation_beta = array<f32: 0.25>} : (tensor<2x3x1xf64>, tensor<2x2x1xf64>, tensor<2x2x2xf64>, tensor<2x4xf64>, tensor<2xi32>, tensor<2x2x2xf64>) -> (tensor<2x3x2x2xf64>, tensor<2x2x2xf64>)
  return %y, %h : tensor<2x3x2x2xf64>, tensor<2x2x2xf64>
}

func.func @gru(%x: tensor<2x1x2xf64>, %w: tensor<1x6x2xf64>, %r: tensor<1x6x2xf64>, %b: tensor<1x12xf64>, %i: tensor<1x1x2xf64>) -> (tensor<2x1x1x2xf64>, tensor<1x1x2xf64>) {
  %n = graph.none : none
  %y, %h = graph.gru %x, %w, %r, %b, %n, %i {hidden_size = 2 : i64} : (tensor<2x1x2xf64>, tensor<1x6x2xf64>, tensor<1x6x2xf64>, tensor<1x12xf64>, none, tensor<1x1x2xf64>) -> (tensor<2x1x1x2xf64>, tensor<1x1x2xf64>)
  return %y, %h : tensor<2x1x1x2xf64>, tensor<1x1x2xf64>
}

func.func @gru_2(%x: tensor<3x2x1xf64>, %w: tensor<1x3x1xf64>, %r: tensor<1x3x1xf64>, %b: tensor<1x6xf64>) -> tensor<3x1x2x1xf64> {
  %n = graph.none : none
  %y, %h = graph.gru %x, %w, %r, %b, %n, %n {hidden_size = 1 : i64, direction = "reverse", linear_before_reset = true} : (tensor<3x2x1xf64>, tensor<1x3x1xf64>, tensor<1x3x1xf64>, tensor<1x6xf64>, none, none) -> (tensor<3x1x2x1xf64>, tensor<1x2x1xf64>)
  return %y : tensor<3x1x2x1xf64>
}

func.func @lstm(%x: tensor<2x1x2xf64>, %w: tensor<1x8x2xf64>, %r: tensor<1x8x2xf64>) -> (tensor<2x1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1x2xf64>) {
  %n = graph.none : none
  %y, %h, %c = graph.lstm %x, %w, %r, %n, %n, %n, %n, %n {hidden_size = 2 : i64} : (tensor<2x1x2xf64>, tensor<1x8x2xf64>, tensor<1x8x2xf64>, none, none, none, none, none) -> (tensor<2x1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1x2xf64>)
  return %y, %h, %c : tensor<2x1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1x2xf64>
}

// Peepholes, states that are given, the last cell only.
func.func @lstm_2(%x: tensor<3x2x1xf64>, %w: tensor<1x4x1xf64>, %r: tensor<1x4x1xf64>, %b: tensor<1x8xf64>, %i: tensor<1x2x1xf64>, %j: tensor<1x2x1xf64>, %p: tensor<1x3xf64>) -> tensor<1x2x1xf64> {
  %l = graph.constant dense<[2, 3]> : tensor<2xi32>
  %y, %h, %c = graph.lstm %x, %w, %r, %b, %l, %i, %j, %p {hidden_size = 1 : i64, direction = "reverse", activations = "Sigmoid,Softsign,Softplus"} : (tensor<3x2x1xf64>, tensor<1x4x1xf64>, tensor<1x4x1xf64>, tensor<1x8xf64>, tensor<2xi32>, tensor<1x2x1xf64>, tensor<1x2x1xf64>, tensor<1x3xf64>) -> (tensor<3x1x2x1xf64>, tensor<1x2x1xf64>, tensor<1x2x1xf64>)
  return %c : tensor<1x2x1xf64>
}

func.func @lstm_3(%x: tensor<1x2x1xf64>, %w: tensor<2x4x1xf64>, %r: tensor<2x4x1xf64>) -> tensor<1x2x2x1xf64> {
  %n = graph.none : none
  %y, %h, %c = graph.lstm %x, %w, %r, %n, %n, %n, %n, %n {hidden_size = 1 : i64, direction = "bidirectional", input_forget = true, clip = 0.9 : f32} : (tensor<1x2x1xf64>, tensor<2x4x1xf64>, tensor<2x4x1xf64>, none, none, none, none, none) -> (tensor<1x2x2x1xf64>, tensor<2x2x1xf64>, tensor<2x2x1xf64>)
  return %y : tensor<1x2x2x1xf64>
}
