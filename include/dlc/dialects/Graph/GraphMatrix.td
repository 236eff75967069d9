// SPDX-License-Identifier: Apache-2.0
//
// Factors, inverses and determinants of the matrices in the last two
// dimensions. Each is computed in f64.

#ifndef DLC_DIALECTS_GRAPH_GRAPHMATRIX_TD
#define DLC_DIALECTS_GRAPH_GRAPHMATRIX_TD

include "dlc/dialects/Graph/GraphBase.td"

class Graph_MatrixOp<string mnemonic> : Graph_Op<mnemonic, "Opaque", [
    DeclareOpInterfaceMethods<GradientOpInterface>]>;

def CholeskyOp : Graph_MatrixOp<"cholesky"> {
  let summary = "Factor of a positive definite matrix";
  let description = [{
    The lower triangular L with L L^T = x, whose diagonal is positive (Golub and
    Van Loan, Matrix Computations, 4.2), for symmetric matrices, of which the
    lower triangle is read. NaN everywhere in a matrix where there is none. The
    gradient is that of symmetric changes, and symmetric.

    Constraint (cholesky_c1): `x` is a tensor of floats whose last two
    dimensions are equal; `y` has its type.

    ```mlir
    %y = graph.cholesky %x : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$y);
}

def DetOp : Graph_MatrixOp<"det"> {
  let summary = "Determinant";
  let description = [{
    The determinants of the matrices in the last two dimensions.

    Constraint (det_c1): `x` is a tensor of floats whose last two dimensions are
    equal; `y` has its element type.

    ```mlir
    %y = graph.det %x : (tensor<4x3x3xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$y);
}

def EighOp : Graph_MatrixOp<"eigh"> {
  let summary = "Eigenvalues and eigenvectors of a symmetric matrix";
  let description = [{
    Of symmetric matrices, of which the lower triangle is read, the eigenvalues
    in ascending order, and in the columns of `vectors` eigenvectors of length
    1, in each of which the element of largest magnitude, the first of several,
    is positive. Jacobi's method (Golub and Van Loan, 8.5). NaN everywhere in a
    matrix that is not finite. The gradient is that of symmetric changes, and
    symmetric; vectors of equal eigenvalues turn into each other without one.

    Constraint (eigh_c1): `x` is a tensor of floats whose last two dimensions
    are equal; `vectors` has its type, and `values` lacks the last dimension.

    ```mlir
    %l, %v = graph.eigh %x : (tensor<4x3x3xf32>) -> (tensor<4x3xf32>, tensor<4x3x3xf32>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$values, Graph_FloatTensor:$vectors);
}

def InverseOp : Graph_MatrixOp<"inverse"> {
  let summary = "Inverse";
  let description = [{
    The inverses of the matrices in the last two dimensions; NaN everywhere in
    that of a singular one.

    Constraint (inverse_c1): `x` is a tensor of floats whose last two dimensions
    are equal; `y` has its type.

    ```mlir
    %y = graph.inverse %x : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$y);
}

def LogDetOp : Graph_MatrixOp<"log_det"> {
  let summary = "Sign and logarithm of the determinant";
  let description = [{
    `sign` is -1, 0 or 1 and `logarithm` that of the magnitude: -inf, and a sign
    of 0, for singular matrices. Both are finite where a determinant would
    overflow.

    Constraint (log_det_c1): `x` is a tensor of floats whose last two dimensions
    are equal; the results lack these.

    ```mlir
    %s, %l = graph.log_det %x : (tensor<4x3x3xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$sign, Graph_FloatTensor:$logarithm);
}

def LqOp : Graph_MatrixOp<"lq"> {
  let summary = "Product of a lower triangular and an orthogonal matrix";
  let description = [{
    l q = x, where l is lower triangular and the rows of q are orthogonal and of
    length 1. Householder's reflections; signs as LAPACK's gelqf has them, so
    that an element of l's diagonal has the sign that its column is reflected
    from.

    Constraint (lq_c1): `x` is a tensor of floats with no more rows than columns
    in its last two dimensions; `q` has its type, and `l` as many columns as
    rows.

    ```mlir
    %l, %q = graph.lq %x : (tensor<4x2x3xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x3xf32>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$l, Graph_FloatTensor:$q);
}

def TriangularSolveOp : Graph_MatrixOp<"triangular_solve"> {
  let summary = "Solution of triangular equations";
  let description = [{
    y with A y = b, where A is the lower triangle of `a`, or the upper one with
    `upper`, and with `transposed` that transposed. Infinite or NaN where the
    diagonal has a 0.

    Constraints:
    - (triangular_solve_c1) `a` and `b` have one element type, floats, and the
      same dimensions but the last two.
    - (triangular_solve_c2) of `a` these are equal, and as large as the last but
      one of `b`; `y` has the type of `b`.

    ```mlir
    %y = graph.triangular_solve %a, %b {upper = true} : (tensor<4x3x3xf32>, tensor<4x3x2xf32>) -> tensor<4x3x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$a, Graph_FloatTensor:$b,
                       Graph_Bool<"false">:$upper,
                       Graph_Bool<"false">:$transposed);
  let results = (outs Graph_FloatTensor:$y);
}

#endif // DLC_DIALECTS_GRAPH_GRAPHMATRIX_TD
