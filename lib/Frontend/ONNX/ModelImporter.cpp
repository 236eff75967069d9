// SPDX-License-Identifier: Apache-2.0
//
// The model as a whole: versions, functions, inputs and outputs.

#include "ModelImporter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Path.h"

using namespace dlc::onnx;
using namespace mlir;
using llvm::StringRef;
using llvm::Twine;
namespace rt = dlc::rt;

ModelImporter::ModelImporter(MLIRContext &context, const Model &model,
                             const ImportOptions &options, StringRef file,
                             std::shared_ptr<const void> owner,
                             ModelFolder *folder)
    : context(context), model(model), options(options), file(file),
      owner(std::move(owner)), folder(folder), builder(OpBuilder(&context)),
      nodeBudget(model.graph.nodes.size() + options.inlinedNodes) {
  builder.setLocation(NameLoc::get(StringAttr::get(&context, file)));
}

//===-- Versions and functions --------------------------------------------===//

bool ModelImporter::checkOpsets(ArrayRef<OpsetImport> opsets) {
  for (const OpsetImport &opset : opsets) {
    bool isStandard = opset.domain.empty() || opset.domain == "ai.onnx";
    if (isStandard &&
        (opset.version < kFirstOpset || opset.version > kLastOpset))
      return fail("unsupported: opset " + Twine(opset.version) +
                  " of ai.onnx, expected " + Twine(kFirstOpset) + " to " +
                  Twine(kLastOpset));
  }
  return true;
}

bool ModelImporter::checkModel() {
  if (model.irVersion <= 0)
    return fail("expected an IR version, found none");
  if (model.irVersion < kFirstIrVersion || model.irVersion > kLastIrVersion)
    return fail("unsupported: IR version " + Twine(model.irVersion) +
                ", expected " + Twine(kFirstIrVersion) + " to " +
                Twine(kLastIrVersion));
  if (!model.hasGraph)
    return fail("expected a graph in the model");
  if (model.hasTraining)
    return fail("unsupported: training information");
  if (model.opsets.empty())
    return fail("expected an opset import");
  return checkOpsets(model.opsets) && readFunctions();
}

static std::string functionKey(std::string_view domain, std::string_view name,
                               std::string_view overload) {
  std::string key(domain == "ai.onnx" ? std::string_view() : domain);
  key.push_back('\0');
  key += name;
  key.push_back('\0');
  key += overload;
  return key;
}

bool ModelImporter::readFunctions() {
  // The map's keys point into this list, which must not grow afterwards.
  functionKeys.reserve(model.functions.size());
  for (const Function &function : model.functions) {
    functionKeys.push_back(
        functionKey(function.domain, function.name, function.overload));
    if (!checkOpsets(function.opsets))
      return false;
    if (!functions.insert({functionKeys.back(), &function}).second)
      return fail("function '" + StringRef(function.name) +
                  "' is defined twice");
  }
  return true;
}

const Function *ModelImporter::findFunction(const Node &node) const {
  std::string key = functionKey(node.domain, node.type, node.overload);
  return functions.lookup(key);
}

//===-- Inputs ------------------------------------------------------------===//

bool ModelImporter::addInitializers(const Graph &graph, Scope &scope) {
  if (graph.hasSparseInitializers)
    return fail("unsupported: sparse initializers");
  for (const Tensor &tensor : graph.initializers) {
    if (tensor.name.empty())
      return fail("expected a name of every initializer");
    if (!scope.initializers.insert({tensor.name, &tensor}).second)
      return fail("initializer '" + StringRef(tensor.name) +
                  "' is defined twice");
  }
  return true;
}

/// Up to IR version 3 every initializer is listed as an input too. Later
/// versions mean a default value by that, which a compiled program cannot
/// override.
SmallVector<const ValueInfo *> ModelImporter::trueInputs(const Graph &graph,
                                                         const Scope &scope) {
  SmallVector<const ValueInfo *> inputs;
  for (const ValueInfo &input : graph.inputs) {
    if (!scope.initializers.contains(input.name)) {
      inputs.push_back(&input);
      continue;
    }
    if (model.irVersion > 3)
      emitWarning(builder.location())
          << "input '" << StringRef(input.name)
          << "' has a default value and is imported as a constant";
  }
  return inputs;
}

/// Learns what the options say of symbolic dimensions.
bool ModelImporter::bindSymbols(ArrayRef<const ValueInfo *> inputs) {
  for (const auto &[name, shape] : options.inputShapes) {
    auto input = llvm::find_if(
        inputs, [&](const ValueInfo *info) { return info->name == name; });
    if (input == inputs.end())
      return fail("expected an input named '" + name + "' to give a shape to");
    if (!(*input)->hasShape)
      continue;
    const std::vector<Dimension> &declared = (*input)->shape;
    if (declared.size() != shape.size())
      return fail("expected " + Twine(declared.size()) +
                  " dims in the shape given for input '" + name + "', got " +
                  Twine(shape.size()));
    for (auto [dimension, value] : llvm::zip(declared, shape)) {
      if (dimension.hasValue || dimension.name.empty() || value < 0)
        continue;
      auto [known, isNew] = symbols.insert({dimension.name, value});
      if (!isNew && known->second != value)
        return fail("expected one value for dimension '" +
                    StringRef(dimension.name) + "', got " +
                    Twine(known->second) + " and " + Twine(value));
    }
  }
  return true;
}

/// Null after a failure.
Type ModelImporter::inputType(const ValueInfo &input) {
  std::string what = ("input '" + StringRef(input.name) + "'").str();
  if (input.kind != TypeKind::Tensor) {
    fail(input.kind == TypeKind::None
             ? "expected a type of " + what
             : "unsupported: " + what + ", which is not a tensor");
    return {};
  }
  Type element = builder.elementType(dataTypeOf(input.element));
  if (!element) {
    fail("unsupported: element type " + nameOf(input.element) + " of " + what);
    return {};
  }
  Ints shape;
  auto given = options.inputShapes.find(std::string(input.name));
  if (given != options.inputShapes.end()) {
    shape = given->second;
  } else if (!input.hasShape) {
    return UnrankedTensorType::get(element);
  } else {
    for (const Dimension &dimension : input.shape) {
      auto bound = symbols.find(dimension.name);
      if (dimension.hasValue && dimension.value < 0) {
        fail("expected dims of " + what + " that are not negative, got " +
             Twine(dimension.value));
        return {};
      }
      shape.push_back(dimension.hasValue ? dimension.value
                      : bound != symbols.end() && !dimension.name.empty()
                          ? bound->second
                          : -1);
    }
  }
  if (shape.size() > DLC_MAX_RANK) {
    fail("unsupported: rank " + Twine(shape.size()) + " of " + what +
         ", expected at most " + Twine(DLC_MAX_RANK));
    return {};
  }
  int64_t bytes = 16; // More than any element takes.
  for (int64_t &dim : shape) {
    if (dim > 1 && __builtin_mul_overflow(bytes, dim, &bytes)) {
      fail("expected a size of " + what + " within 64 bits");
      return {};
    }
    if (dim < 0)
      dim = ShapedType::kDynamic;
  }
  return RankedTensorType::get(shape, element);
}

DictionaryAttr ModelImporter::inputAttributes(const ValueInfo &input,
                                              Type type) {
  Builder b(&context);
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr("graph.name", b.getStringAttr(input.name))};
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (ranked && input.hasShape &&
      ranked.getRank() == static_cast<int64_t>(input.shape.size())) {
    SmallVector<StringRef> names;
    for (auto [index, dimension] : llvm::enumerate(input.shape))
      names.push_back(ranked.isDynamicDim(index) ? StringRef(dimension.name)
                                                 : StringRef());
    if (llvm::any_of(names, [](StringRef name) { return !name.empty(); }))
      attributes.push_back(
          b.getNamedAttr("graph.dims", b.getStrArrayAttr(names)));
  }
  return b.getDictionaryAttr(attributes);
}

//===-- The main graph ----------------------------------------------------===//

/// The declared type of an output is a promise of the model; a shape that
/// contradicts what inference knows is worth a warning, another element type
/// is an error.
bool ModelImporter::checkOutput(const ValueInfo &output, Value value) {
  std::string what = ("output '" + StringRef(output.name) + "'").str();
  auto type = cast<mlir::TensorType>(value.getType());
  if (output.kind != TypeKind::Tensor)
    return output.kind == TypeKind::None ||
           fail("unsupported: " + what + ", which is not a tensor");
  Type declared = builder.elementType(dataTypeOf(output.element));
  if (output.element != ElementType::Undefined &&
      declared != type.getElementType()) {
    emitError(builder.location())
        << "expected " << what << " of element type " << nameOf(output.element)
        << ", got " << type.getElementType();
    return false;
  }
  if (!output.hasShape || !type.hasRank())
    return true;
  bool agrees = type.getRank() == static_cast<int64_t>(output.shape.size());
  for (size_t i = 0; agrees && i < output.shape.size(); ++i)
    agrees = type.isDynamicDim(i) || !output.shape[i].hasValue ||
             output.shape[i].value == type.getDimSize(i);
  // Given input shapes change those of outputs on purpose.
  if (!agrees && options.inputShapes.empty())
    emitWarning(builder.location())
        << what << " is declared with another shape than " << type;
  return true;
}

/// Constants that only folded operations used.
static void eraseUnused(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

bool ModelImporter::importMain(ModuleOp module) {
  Scope scope;
  scope.opsets = model.opsets;
  if (!addInitializers(model.graph, scope))
    return false;
  SmallVector<const ValueInfo *> inputs = trueInputs(model.graph, scope);
  if (!bindSymbols(inputs))
    return false;

  Location loc = builder.location();
  OpBuilder &ops = builder.opBuilder();
  ops.setInsertionPointToEnd(module.getBody());
  auto main =
      func::FuncOp::create(ops, loc, "main", ops.getFunctionType({}, {}));
  Block *body = main.addEntryBlock();
  ops.setInsertionPointToEnd(body);

  SmallVector<mlir::Attribute> inputAttrs, outputAttrs;
  for (const ValueInfo *input : inputs) {
    Type type = inputType(*input);
    if (!type || !define(input->name, body->addArgument(type, loc), scope))
      return false;
    inputAttrs.push_back(inputAttributes(*input, type));
  }
  if (!importNodes(model.graph.nodes, scope))
    return false;

  builder.setLocation(loc);
  SmallVector<Value> results;
  for (const ValueInfo &output : model.graph.outputs) {
    Value value;
    if (!resolve(output.name, scope, value))
      return false;
    if (!value)
      return fail("expected a value of output '" + StringRef(output.name) +
                  "'");
    if (!checkOutput(output, value))
      return false;
    results.push_back(value);
    outputAttrs.push_back(ops.getDictionaryAttr(
        ops.getNamedAttr("graph.name", ops.getStringAttr(output.name))));
  }
  func::ReturnOp::create(ops, loc, results);
  eraseUnused(*body);
  main.setType(ops.getFunctionType(body->getArgumentTypes(),
                                   TypeRange(ValueRange(results))));
  if (!inputAttrs.empty())
    main.setAllArgAttrs(inputAttrs);
  if (!outputAttrs.empty())
    main.setAllResultAttrs(outputAttrs);
  return true;
}

OwningOpRef<ModuleOp> ModelImporter::import() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.location());
  if (!checkModel() || !importMain(*module) || failed(verify(*module)))
    return {};
  return module;
}
