// SPDX-License-Identifier: Apache-2.0
//
// The model as a whole: versions, functions, inputs and outputs.

#include "ModelImporter.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

#include <cmath>

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

/// `of` names the owner of the imports: " of function 'f'", or nothing.
bool ModelImporter::checkOpsets(ArrayRef<OpsetImport> opsets, const Twine &of) {
  llvm::DenseMap<StringRef, int64_t> versions;
  for (const OpsetImport &opset : opsets) {
    StringRef domain = opset.domain.empty() ? "ai.onnx" : opset.domain;
    if (domain == "ai.onnx" &&
        (opset.version < kFirstOpset || opset.version > kLastOpset))
      return fail("unsupported: opset " + Twine(opset.version) + " of ai.onnx" +
                  of + ", expected " + Twine(kFirstOpset) + " to " +
                  Twine(kLastOpset));
    auto [known, isNew] = versions.insert({domain, opset.version});
    if (!isNew && known->second != opset.version)
      return fail("expected one opset of " + domain + of + ", got " +
                  Twine(known->second) + " and " + Twine(opset.version));
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
  return checkOpsets(model.opsets, "") && readFunctions();
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
    if (!checkOpsets(function.opsets,
                     " of function '" + StringRef(function.name) + "'"))
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

/// Whether an input may have the initializer of its name as its value.
static bool agrees(const ValueInfo &input, const Tensor &tensor) {
  if (input.kind == TypeKind::None)
    return true;
  if (input.kind != TypeKind::Tensor || input.element != tensor.type)
    return false;
  return !input.hasShape ||
         llvm::equal(input.shape, tensor.dims,
                     [](const Dimension &declared, int64_t size) {
                       return !declared.hasValue || declared.value == size;
                     });
}

/// Up to IR version 3 every initializer is listed as an input too. Later
/// versions mean a default value by that, which a compiled program cannot
/// override.
bool ModelImporter::findInputs(const Graph &graph, const Scope &scope,
                               SmallVectorImpl<const ValueInfo *> &inputs) {
  for (const ValueInfo &input : graph.inputs) {
    const Tensor *tensor = scope.initializers.lookup(input.name);
    if (!tensor) {
      inputs.push_back(&input);
      continue;
    }
    StringRef name = input.name;
    if (!agrees(input, *tensor))
      return fail("expected the initializer of input '" + name +
                  "' to have the input's type");
    if (model.irVersion > 3)
      emitWarning(builder.location())
          << "input '" << name
          << "' has a default value and is imported as a constant";
  }
  return true;
}

/// Holds the shape that was given for an input against the declared one, and
/// learns from it the values of symbolic dimensions.
bool ModelImporter::bindShape(const ValueInfo &input, ArrayRef<int64_t> shape) {
  std::string what = ("input '" + StringRef(input.name) + "'").str();
  if (input.hasShape && input.shape.size() != shape.size())
    return fail("expected " + Twine(input.shape.size()) +
                " dims in the shape given for " + what + ", got " +
                Twine(shape.size()));
  for (auto [i, dimension] : llvm::enumerate(input.shape)) {
    if (shape[i] < 0)
      continue;
    if (dimension.hasValue && dimension.value != shape[i])
      return fail("expected dim " + Twine(i) + " of the shape given for " +
                  what + " to be " + Twine(dimension.value) +
                  ", as the model declares, got " + Twine(shape[i]));
    if (dimension.hasValue || dimension.name.empty())
      continue;
    auto [known, isNew] = symbols.insert({dimension.name, shape[i]});
    if (!isNew && known->second != shape[i])
      return fail("expected one value for dimension '" +
                  StringRef(dimension.name) + "', got " + Twine(known->second) +
                  " and " + Twine(shape[i]));
  }
  return true;
}

/// The names of the first inputs, for messages.
static std::string nameSome(ArrayRef<const ValueInfo *> inputs) {
  constexpr size_t most = 8;
  std::string names;
  for (const ValueInfo *info : inputs.take_front(most))
    names.append(names.empty() ? "" : ", ").append(info->name);
  return inputs.size() > most ? names + " and more" : names;
}

bool ModelImporter::bindShapes(ArrayRef<const ValueInfo *> inputs) {
  auto find = [&](const std::string &name) {
    return llvm::find_if(
        inputs, [&](const ValueInfo *info) { return info->name == name; });
  };
  for (const auto &[name, number] : options.inputConstants)
    if (find(name) == inputs.end())
      return fail("expected an input of the model (" + nameSome(inputs) +
                  ") to be constant, got '" + name + "'");
  for (const auto &[name, shape] : options.inputShapes) {
    auto input = find(name);
    if (input == inputs.end())
      return fail("expected an input of the model (" + nameSome(inputs) +
                  ") to give a shape to, got '" + name + "'");
    if (!bindShape(**input, shape))
      return false;
  }
  return true;
}

/// Whether an element type has a number: floats, which round, one that is as
/// finite as it.
static bool isNumberOf(Type element, double number) {
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::APFloat value(number);
    bool loses;
    value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &loses);
    return !std::isfinite(number) || value.isFinite();
  }
  auto type = dyn_cast<IntegerType>(element);
  if (!type || std::nearbyint(number) != number)
    return false;
  if (type.getWidth() == 1)
    return number == 0 || number == 1;
  constexpr int exact = 53; // Bits to which doubles count.
  const bool isUnsigned = type.isUnsignedInteger();
  const int bits = static_cast<int>(type.getWidth()) - (isUnsigned ? 0 : 1);
  const double end = std::ldexp(1.0, std::min(bits, exact));
  const double least = isUnsigned ? 0 : -end;
  return number >= least && number < end;
}

/// The value of an input that always is a number; null after a failure.
Value ModelImporter::inputConstant(const ValueInfo &input, Type type,
                                   double number) {
  std::string what = ("input '" + StringRef(input.name) + "'").str();
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked || !ranked.hasStaticShape()) {
    fail("expected a known shape of " + what +
         ", which is to be constant (--shape gives one)");
    return {};
  }
  if (!isNumberOf(ranked.getElementType(), number)) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "expected a number of the element type of " << what << ", "
        << ranked.getElementType() << ", got " << llvm::format("%.17g", number);
    builder.fail(text);
    return {};
  }
  return graph::ConstantOp::create(builder.opBuilder(), builder.location(),
                                   graph::makeSplat(ranked, number));
}

/// The shape of an input as it is declared, with what the options give for
/// inputs and symbols put in; -1 is unknown. Null when the rank is unknown.
std::optional<Ints> ModelImporter::inputShape(const ValueInfo &input) {
  auto given = options.inputShapes.find(std::string(input.name));
  bool isGiven = given != options.inputShapes.end();
  if (!input.hasShape)
    return isGiven ? std::optional<Ints>(given->second) : std::nullopt;
  Ints shape;
  for (auto [i, dimension] : llvm::enumerate(input.shape)) {
    auto bound =
        dimension.name.empty() ? symbols.end() : symbols.find(dimension.name);
    shape.push_back(dimension.hasValue                 ? dimension.value
                    : isGiven && given->second[i] >= 0 ? given->second[i]
                    : bound != symbols.end()           ? bound->second
                                                       : -1);
  }
  return shape;
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
  for (const Dimension &dimension : input.shape)
    if (dimension.hasValue && dimension.value < 0) {
      fail("expected dims of " + what + " that are not negative, got " +
           Twine(dimension.value));
      return {};
    }
  std::optional<Ints> shape = inputShape(input);
  if (!shape)
    return UnrankedTensorType::get(element);
  if (shape->size() > DLC_MAX_RANK) {
    fail("unsupported: rank " + Twine(shape->size()) + " of " + what +
         ", expected at most " + Twine(DLC_MAX_RANK));
    return {};
  }
  int64_t bytes = 16; // More than any element takes.
  for (int64_t &dim : *shape) {
    // No machine has more addresses than 2^47.
    if (dim > 1 && (__builtin_mul_overflow(bytes, dim, &bytes) ||
                    bytes / 16 >= int64_t(1) << 47)) {
      fail("expected less than 2^47 elements of " + what);
      return {};
    }
    if (dim < 0)
      dim = ShapedType::kDynamic;
  }
  return RankedTensorType::get(*shape, element);
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

bool ModelImporter::importMain(ModuleOp module) {
  Scope scope;
  scope.opsets = model.opsets;
  if (!addInitializers(model.graph, scope) ||
      !replaceInitializers(model.graph, scope))
    return false;
  SmallVector<const ValueInfo *> inputs;
  if (!findInputs(model.graph, scope, inputs) || !bindShapes(inputs))
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
    if (!type)
      return false;
    if (auto number = options.inputConstants.find(std::string(input->name));
        number != options.inputConstants.end()) {
      Value value = inputConstant(*input, type, number->second);
      if (!value || !define(input->name, value, scope))
        return false;
      continue;
    }
    if (!define(input->name, body->addArgument(type, loc), scope))
      return false;
    inputAttrs.push_back(inputAttributes(*input, type));
  }
  if ((options.keepsParameters || options.isTraining) &&
      !addParameters(model.graph, body, scope, inputAttrs))
    return false;
  main.setType(ops.getFunctionType(body->getArgumentTypes(), {}));
  if (!inputAttrs.empty())
    main.setAllArgAttrs(inputAttrs);
  training.addRandom = [&] { return graph::addRandom(main); };
  if (!importNodes(model.graph.nodes, scope)) {
    if (options.unseenNodes)
      *options.unseenNodes = unseenNodes;
    return false;
  }

  builder.setLocation(loc);
  SmallVector<Value> results;
  llvm::DenseSet<StringRef> outputNames;
  for (const ValueInfo &output : model.graph.outputs) {
    Value value;
    if (!outputNames.insert(output.name).second)
      return fail("expected distinct names of outputs, got '" +
                  StringRef(output.name) + "' twice");
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
  auto end = func::ReturnOp::create(ops, loc, results);
  main.setType(ops.getFunctionType(body->getArgumentTypes(),
                                   TypeRange(ValueRange(results))));
  if (!outputAttrs.empty())
    main.setAllResultAttrs(outputAttrs);
  ops.setInsertionPoint(end);
  addUpdates(main);
  (void)graph::eraseDead(*body); // Constants that only folded operations used.
  return true;
}

OwningOpRef<ModuleOp> ModelImporter::import() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.location());
  if (!checkModel() || !importMain(*module) || failed(verify(*module)))
    return {};
  return module;
}
