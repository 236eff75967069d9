// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of cpu.recurrent share; as KernelSet.h, and without
// inline functions for the same reason.

#ifndef DLC_RUNTIME_KERNEL_CPU_RECURRENTSET_H
#define DLC_RUNTIME_KERNEL_CPU_RECURRENTSET_H

#include "KernelSet.h"

namespace dlc::rt::cpu {

enum class Cell : int { Rnn, Gru, Lstm };

/// The activations that ONNX names for recurrent layers.
enum class GateFunction : int {
  Affine,
  Elu,
  HardSigmoid,
  LeakyRelu,
  Relu,
  ScaledTanh,
  Sigmoid,
  Softplus,
  Softsign,
  Tanh,
  ThresholdedRelu,
};

struct GateActivation {
  GateFunction function;
  float alpha, beta;
};

/// Of one direction.
inline constexpr int kMostActivations = 3;
/// Gates whose products with the state are computed together; those of a gru
/// are its first two, and the candidate.
inline constexpr int kMostGateParts = 2;

/// Some steps of a layer, whose products W x are there. Gates lie in ONNX's
/// order: z r h for gru, i o f c for lstm. Tiles are numbered direction, block
/// of units, block of sequences, the last fastest.
struct RecurrentPlan {
  Cell cell;
  int64_t directions, sequence, batch, hidden, gates;
  bool
      startsReverse; ///< The first direction runs backwards; a second one does.
  int64_t firstStep, steps; ///< Those of this plan, in order of computation.
  /// Elements from one W x, state and result to the next.
  int64_t inputDirection, inputTime, inputBatch;
  int64_t stateDirection, stateBatch;
  int64_t yDirection, yTime, yBatch;
  int64_t rowBlock, rowBlocks;   ///< Sequences of a tile.
  int64_t unitBlock, unitBlocks; ///< Units of a tile.
  int parts;
  int64_t partGates[kMostGateParts];
  /// What a tile computes of a step until it needs of the state, or of what
  /// the candidate of a gru sees of it, units that other tiles compute.
  int phases;
  bool isOfBytes;       ///< R is packed as bytes and scales.
  int64_t blockWeights; ///< Elements of the packed R of a whole block of units.
  int64_t weights;      ///< Of one direction.
  int64_t scratch;      ///< Elements of one tile.
  float limit;          ///< Of the arguments of activations; infinity for none.
  bool linearBeforeReset, inputForget;
  bool isUsual; ///< Each activation is the cell's default.
  GateActivation activations[2][kMostActivations];
};

/// What the kernels take, null where it is absent. R is packed: for each
/// direction, block of units and part [columns/64][hidden][64], the last part
/// as wide as there are columns, gates times units, zero padded to a multiple
/// of 16: floats, or signed bytes with a scale for each column, in the same
/// order of columns, behind all of them. Y_h and Y_c hold the state, of which a
/// tile reads its own units only; the others are in Y, or in what `held` has of
/// each direction and sequence.
struct RecurrentArguments {
  const float *inputs;
  const void *recurrence;
  const float *bias, *initialH, *initialC, *peepholes;
  const int32_t *lengths;
  float *y, *h, *c, *scratch, *held;
};

/// Steps of a plan, counted from its first one, and phases of each.
struct RecurrentRange {
  int64_t firstStep, endStep;
  int firstPhase, endPhase;
};

struct RecurrentKernels {
  void (*run)(const RecurrentPlan &plan, const RecurrentArguments &arguments,
              const RecurrentRange &range, int64_t begin, int64_t end);
  /// Packs R of one block of units, 64 columns a tile.
  void (*pack)(const RecurrentPlan &plan, const float *source, float *target,
               int64_t begin, int64_t end);
};

extern const RecurrentKernels baselineRecurrent;
#ifdef DLC_KERNELS_X86
extern const RecurrentKernels avx2Recurrent;
extern const RecurrentKernels avx512Recurrent;
#endif

} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_RECURRENTSET_H
