// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Binding/Network.h"

using namespace dlc::rt;

Network::~Network() = default;

const char *dlc::rt::nameOf(ProgramForm form) {
  switch (form) {
  case ProgramForm::Inference:
    return "inference";
  case ProgramForm::Forward:
    return "forward";
  case ProgramForm::Backward:
    return "backward";
  case ProgramForm::Step:
    return "step";
  case ProgramForm::Internals:
    return "internals";
  case ProgramForm::TrainingInternals:
    return "training internals";
  }
  return "?";
}

bool dlc::rt::isOfInternals(ProgramForm form) {
  return form == ProgramForm::Internals ||
         form == ProgramForm::TrainingInternals;
}

std::string ProgramRequest::key() const {
  std::string text = nameOf(form);
  for (const auto *types : {&arguments, &auxiliaryStates}) {
    text += ":";
    for (const TensorType &type : *types)
      text += toString(type) + ",";
  }
  // Programs without gradients are the same whatever is requested.
  if (form != ProgramForm::Inference && !isOfInternals(form))
    for (GradientRequest request : gradients)
      text += static_cast<char>('0' + static_cast<int>(request));
  if (memoryBudget)
    text += " within " + std::to_string(memoryBudget);
  return text;
}
