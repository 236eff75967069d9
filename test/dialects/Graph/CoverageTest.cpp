// SPDX-License-Identifier: Apache-2.0
//
// The dialect and the Reference kernels define the same operations.

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>
#include <string>

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

/// The mnemonics of operations whose types the Reference kernels give.
static std::set<std::string> graphOperations(MLIRContext &context) {
  context.loadDialect<GraphDialect>();
  std::set<std::string> names;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (isa<GraphDialect>(name.getDialect()) &&
        name.hasTrait<ReferenceInference>())
      names.insert(name.stripDialect().str());
  return names;
}

TEST(Coverage, EveryGraphOperationHasAReferenceKernel) {
  MLIRContext context;
  for (const std::string &name : graphOperations(context)) {
    const rt::ref::Operation *operation = rt::ref::lookup(name);
    ASSERT_NE(operation, nullptr) << name;
    EXPECT_NE(operation->infer, nullptr) << name;
    EXPECT_NE(operation->compute, nullptr) << name;
  }
}

TEST(Coverage, EveryReferenceKernelHasAGraphOperation) {
  MLIRContext context;
  std::set<std::string> names = graphOperations(context);
  for (const rt::ref::Operation &operation : rt::ref::operations())
    EXPECT_TRUE(names.count(std::string(operation.name))) << operation.name;
}

TEST(Coverage, TheRuntimeKnowsTheAttributes) {
  MLIRContext context;
  for (const std::string &name : graphOperations(context)) {
    RegisteredOperationName operation =
        *RegisteredOperationName::lookup("graph." + name, &context);
    std::set<std::string> declared;
    for (StringAttr attribute : operation.getAttributeNames())
      declared.insert(attribute.str());
    std::istringstream known{std::string(rt::ref::attributeNames(name))};
    std::set<std::string> listed{std::istream_iterator<std::string>(known), {}};
    for (const std::string &attribute : listed)
      EXPECT_GE(rt::ref::attributeKind(attribute), 0) << attribute;
    // Values are an operand to the runtime; segments are none of its business.
    for (const char *other :
         {"value", "operandSegmentSizes", "resultSegmentSizes"})
      declared.erase(other);
    EXPECT_EQ(declared, listed) << name;
  }
}

TEST(Coverage, ElementwiseOperationsSayHowTheyFuse) {
  MLIRContext context;
  graphOperations(context);
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!isa<GraphDialect>(name.getDialect()))
      continue;
    EXPECT_TRUE(name.hasInterface<FusionOpInterface>())
        << name.getStringRef().str();
    if (name.hasInterface<ElementwiseOpInterface>())
      EXPECT_TRUE(name.hasInterface<InPlaceOpInterface>())
          << name.getStringRef().str();
  }
}
