// SPDX-License-Identifier: Apache-2.0
//
// One ONNX conformance test: a model, inputs and the outputs to expect.

#ifndef DLC_TOOLS_DLC_CONFORMANCE_H
#define DLC_TOOLS_DLC_CONFORMANCE_H

#include <string>
#include <vector>

namespace dlc::tool {

/// A folder with model.onnx and test_data_set_N/{input,output}_K.pb, or a file
/// NAME.onnx beside NAME_output_K.pb, whose only input holds i / n at element
/// i of n.
struct ConformanceTest {
  std::string name;
  std::string model;
  std::vector<std::string> dataSets; ///< Empty for the second form.
  bool isLight = false;              ///< Of the second form.
};

struct ConformanceOptions {
  std::string target = "host";
  double relative = 1e-3, absolute = 1e-7;
};

enum class Outcome { Passed = 0, Failed = 1, Skipped = 2 };

struct ConformanceResult {
  Outcome outcome = Outcome::Failed;
  std::string reason;
};

/// Appends the tests at `path` and in the folders right below it, by name.
/// Throws a Failure when there is no such folder.
void findConformanceTests(const std::string &path,
                          std::vector<ConformanceTest> &tests);

/// Compiles and runs the model on every data set. Skipped: models that need
/// what DLC does not support, with the importer's reason. Types and shapes
/// must match exactly, floats within |a - b| <= absolute + relative * |b|.
ConformanceResult runConformanceTest(const ConformanceTest &test,
                                     const ConformanceOptions &options);

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_CONFORMANCE_H
