// SPDX-License-Identifier: Apache-2.0
//
// Symbols behind the C API. A handle holds a symbol and what it handed out
// last.

#include "Handles.h"

#include "dlc/Executor/Executor.h"
#include "dlc/Symbol/Inference.h"
#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/Scope.h"
#include "dlc/runtime/CAPI/Known.h"
#include "dlc/runtime/CAPI/Options.h"

#include <memory>
#include <variant>

using namespace dlc;
using namespace dlc::capi;
using symbol::Symbol;

struct DlcSymbolImpl {
  explicit DlcSymbolImpl(Symbol symbol) : symbol(std::move(symbol)) {}

  Symbol symbol;
  // What was handed out; pointers point into the strings and shapes.
  std::string text;
  std::vector<std::string> strings;
  std::vector<const char *> pointers;
  symbol::Inferred<symbol::Shape> shapes;
  std::vector<DlcSymbolShape> views[3];
  symbol::Inferred<rt::DataType> types;
};

/// Hands a symbol to the caller, or says why it is failed.
static DlcStatus handOut(Symbol symbol, DlcSymbol *out) {
  if (!out)
    return missing("a place for the symbol");
  if (!symbol.isOk())
    return toStatus(symbol.status());
  *out = new DlcSymbolImpl(std::move(symbol));
  return nullptr;
}

static DlcStatus handOut(DlcSymbol symbol, std::vector<std::string> strings,
                         const char *const **list, size_t *count,
                         size_t stride = 1) {
  if (!list || !count)
    return missing("a place for the list");
  symbol->strings = std::move(strings);
  symbol->pointers.clear();
  for (const std::string &string : symbol->strings)
    symbol->pointers.push_back(string.c_str());
  *list = symbol->pointers.data();
  *count = symbol->pointers.size() / stride;
  return nullptr;
}

static DlcStatus handOut(DlcSymbol symbol, std::string text,
                         const char **place) {
  if (!place)
    return missing("a place for the text");
  symbol->text = std::move(text);
  *place = symbol->text.c_str();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

// Text of declarations is literals, which end in a zero.

size_t dlcOperatorCount(void) { return symbol::allOperators().size(); }

const char *dlcOperatorName(size_t index) {
  auto all = symbol::allOperators();
  return index < all.size() ? all[index]->name.data() : nullptr;
}

static DlcStatus findOperator(const char *name, const symbol::Operator *&op) {
  if (!name)
    return missing("the name of an operator");
  op = symbol::findOperator(name);
  if (op)
    return nullptr;
  std::string message = "unknown operator '" + std::string(name) + "'";
  return dlcStatusCreate(DLC_NOT_FOUND, message.c_str());
}

DlcStatus dlcOperatorSummary(const char *name, const char **summary) {
  const symbol::Operator *op = nullptr;
  if (DlcStatus status = findOperator(name, op))
    return status;
  if (!summary)
    return missing("a place for the text");
  *summary = op->summary.data();
  return nullptr;
}

DlcStatus dlcOperatorParameterCount(const char *name, size_t *count) {
  const symbol::Operator *op = nullptr;
  if (DlcStatus status = findOperator(name, op))
    return status;
  if (!count)
    return missing("a place for the number");
  *count = op->parameters.size();
  return nullptr;
}

DlcStatus dlcOperatorDescribeParameter(const char *name, size_t index,
                                       DlcOperatorParameter *parameter) {
  const symbol::Operator *op = nullptr;
  if (DlcStatus status = findOperator(name, op))
    return status;
  if (!parameter)
    return missing("a place for the description");
  if (index >= op->parameters.size())
    return invalid("expected an index below " +
                   std::to_string(op->parameters.size()) + ", got " +
                   std::to_string(index));
  const symbol::Parameter &found = op->parameters[index];
  *parameter = {found.name.data(), symbol::nameOf(found.kind).data(),
                found.fallback ? found.fallback->data() : nullptr,
                found.summary.data()};
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Making symbols
//===----------------------------------------------------------------------===//

DlcStatus dlcSymbolCreateVariable(const char *name, DlcSymbol *symbol) {
  if (!name)
    return missing("a name");
  return handOut(Symbol::variable(name), symbol);
}

static DlcStatus noteAttributes(const char *const *keys,
                                const char *const *values, size_t count,
                                symbol::Attributes &attributes) {
  if (count && (!keys || !values))
    return missing("keys and values");
  for (size_t i = 0; i < count; ++i) {
    if (!keys[i] || !values[i])
      return missing("a key and a value");
    if (!attributes.emplace(symbol::attributeName(keys[i]), values[i]).second)
      return invalid("expected one value of '" + std::string(keys[i]) +
                     "', got two");
  }
  return nullptr;
}

DlcStatus dlcSymbolCreateAtomic(const char *op, const char *const *keys,
                                const char *const *values, size_t count,
                                DlcSymbol *symbol) {
  if (!op)
    return missing("the name of an operator");
  symbol::Attributes attributes;
  if (DlcStatus status = noteAttributes(keys, values, count, attributes))
    return status;
  return handOut(Symbol::atomic(op, std::move(attributes)), symbol);
}

DlcStatus dlcSymbolCreateGroup(const DlcSymbol *parts, size_t count,
                               DlcSymbol *symbol) {
  if (count && !parts)
    return missing("parts");
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < count; ++i) {
    if (!parts[i])
      return missing("a part");
    symbols.push_back(parts[i]->symbol);
  }
  return handOut(Symbol::group(symbols), symbol);
}

DlcStatus dlcSymbolCompose(DlcSymbol symbol, const char *name,
                           const char *const *keys, const DlcSymbol *arguments,
                           size_t count) {
  if (!symbol)
    return missing("a symbol");
  if (count && !arguments)
    return missing("arguments");
  std::vector<Symbol> positional;
  symbol::NamedSymbols named;
  for (size_t i = 0; i < count; ++i) {
    if (!arguments[i] || (keys && !keys[i]))
      return missing("an argument and its key");
    if (keys)
      named.emplace_back(keys[i], arguments[i]->symbol);
    else
      positional.push_back(arguments[i]->symbol);
  }
  Symbol composed =
      symbol->symbol.compose(positional, std::move(named), name ? name : "");
  if (!composed.isOk())
    return toStatus(composed.status());
  symbol->symbol = std::move(composed);
  return nullptr;
}

DlcStatus dlcSymbolCopy(DlcSymbol symbol, DlcSymbol *copy) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol->symbol.copy(), copy);
}

/// `a` and `b` are symbols, or one is a number.
template <typename A, typename B>
static DlcStatus combine(DlcArithmetic arithmetic, const A &a, const B &b,
                         DlcSymbol *result) {
  switch (arithmetic) {
  case DLC_ADD:
    return handOut(a + b, result);
  case DLC_SUBTRACT:
    return handOut(a - b, result);
  case DLC_MULTIPLY:
    return handOut(a * b, result);
  case DLC_DIVIDE:
    return handOut(a / b, result);
  case DLC_ARITHMETIC_LIMIT:
    break;
  }
  return invalid("expected a DlcArithmetic, got " + std::to_string(arithmetic));
}

DlcStatus dlcSymbolCombine(DlcArithmetic arithmetic, DlcSymbol a, DlcSymbol b,
                           DlcSymbol *result) {
  if (!a || !b)
    return missing("a symbol");
  return combine(arithmetic, a->symbol, b->symbol, result);
}

DlcStatus dlcSymbolCombineScalar(DlcArithmetic arithmetic, DlcSymbol symbol,
                                 double scalar, int isScalarFirst,
                                 DlcSymbol *result) {
  if (!symbol)
    return missing("a symbol");
  return isScalarFirst ? combine(arithmetic, scalar, symbol->symbol, result)
                       : combine(arithmetic, symbol->symbol, scalar, result);
}

void dlcSymbolDestroy(DlcSymbol symbol) { delete symbol; }

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

namespace {

/// The scopes of a thread, which end in reverse order, with it at the latest.
class Scopes {
public:
  // What scopes are kept in lives longer than they.
  Scopes() { symbol::AttributeScope::current(); }
  ~Scopes() {
    while (!scopes.empty())
      scopes.pop_back();
  }

  std::vector<std::variant<std::unique_ptr<symbol::AttributeScope>,
                           std::unique_ptr<symbol::NameScope>>>
      scopes;
};

} // namespace

static thread_local Scopes threadScopes;

DlcStatus dlcSymbolOpenAttributeScope(const char *const *keys,
                                      const char *const *values, size_t count) {
  symbol::Attributes attributes;
  if (DlcStatus status = noteAttributes(keys, values, count, attributes))
    return status;
  threadScopes.scopes.emplace_back(
      std::make_unique<symbol::AttributeScope>(attributes));
  return nullptr;
}

DlcStatus dlcSymbolOpenNameScope(const char *prefix) {
  threadScopes.scopes.emplace_back(
      std::make_unique<symbol::NameScope>(prefix ? prefix : ""));
  return nullptr;
}

DlcStatus dlcSymbolCloseScope(void) {
  if (threadScopes.scopes.empty())
    return invalid("expected an open scope of this thread, found none");
  threadScopes.scopes.pop_back();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Files and text
//===----------------------------------------------------------------------===//

DlcStatus dlcSymbolFromJson(const char *text, size_t size, DlcSymbol *symbol) {
  if (!text)
    return missing("text");
  rt::Result<Symbol> read = symbol::fromJson({text, size});
  return read.isOk() ? handOut(std::move(*read), symbol)
                     : toStatus(read.status());
}

DlcStatus dlcSymbolToJson(DlcSymbol symbol, const char **text, size_t *size) {
  if (!symbol)
    return missing("a symbol");
  rt::Result<std::string> json = symbol::toJson(symbol->symbol);
  if (!json.isOk())
    return toStatus(json.status());
  if (DlcStatus status = handOut(symbol, std::move(*json), text))
    return status;
  if (size)
    *size = symbol->text.size();
  return nullptr;
}

DlcStatus dlcSymbolPrint(DlcSymbol symbol, const char **text) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol, symbol->symbol.print(), text);
}

//===----------------------------------------------------------------------===//
// What a symbol tells
//===----------------------------------------------------------------------===//

DlcStatus dlcSymbolName(DlcSymbol symbol, const char **name) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol, symbol->symbol.name(), name);
}

DlcStatus dlcSymbolListArguments(DlcSymbol symbol, const char *const **names,
                                 size_t *count) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol, symbol->symbol.listArguments(), names, count);
}

DlcStatus dlcSymbolListAuxiliaryStates(DlcSymbol symbol,
                                       const char *const **names,
                                       size_t *count) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol, symbol->symbol.listAuxiliaryStates(), names, count);
}

DlcStatus dlcSymbolListInputs(DlcSymbol symbol, const char *const **names,
                              size_t *count) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol, symbol->symbol.listInputs(), names, count);
}

DlcStatus dlcSymbolListOutputs(DlcSymbol symbol, const char *const **names,
                               size_t *count) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol, symbol->symbol.listOutputs(), names, count);
}

DlcStatus dlcSymbolGetOutput(DlcSymbol symbol, size_t index,
                             DlcSymbol *output) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol->symbol[index], output);
}

DlcStatus dlcSymbolGetInternals(DlcSymbol symbol, DlcSymbol *internals) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol->symbol.internals(), internals);
}

DlcStatus dlcSymbolGetChildren(DlcSymbol symbol, DlcSymbol *children) {
  if (!symbol)
    return missing("a symbol");
  return handOut(symbol->symbol.children(), children);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

DlcStatus dlcSymbolGetAttribute(DlcSymbol symbol, const char *key,
                                const char **value) {
  if (!symbol || !key || !value)
    return missing(!symbol ? "a symbol"
                   : key   ? "a place for the value"
                           : "a key");
  symbol::Attributes attributes = symbol->symbol.attributes();
  auto found = attributes.find(symbol::attributeName(key));
  if (found != attributes.end())
    return handOut(symbol, found->second, value);
  *value = nullptr;
  return nullptr;
}

DlcStatus dlcSymbolSetAttribute(DlcSymbol symbol, const char *key,
                                const char *value) {
  if (!symbol || !key || !value)
    return missing(!symbol ? "a symbol" : key ? "a value" : "a key");
  return toStatus(symbol->symbol.setAttribute(key, value));
}

DlcStatus dlcSymbolListAttributes(DlcSymbol symbol, int isDeep,
                                  const char *const **pairs, size_t *count) {
  if (!symbol)
    return missing("a symbol");
  std::vector<std::string> strings;
  auto add = [&](const std::string &prefix,
                 const symbol::Attributes &attributes) {
    for (const auto &[key, value] : attributes) {
      strings.push_back(prefix + key);
      strings.push_back(value);
    }
  };
  if (!isDeep)
    add("", symbol->symbol.attributes());
  else
    for (const auto &[node, attributes] : symbol->symbol.allAttributes())
      add(node + "$", attributes);
  return handOut(symbol, std::move(strings), pairs, count, /*stride=*/2);
}

DlcStatus dlcSymbolAddControlDependencies(DlcSymbol symbol, DlcSymbol others) {
  if (!symbol || !others)
    return missing("a symbol");
  return toStatus(symbol->symbol.addControlDependencies(others->symbol));
}

//===----------------------------------------------------------------------===//
// Shapes and types
//===----------------------------------------------------------------------===//

static symbol::Completeness completeness(int isPartial) {
  return isPartial ? symbol::Completeness::Partial : symbol::Completeness::Full;
}

static void view(const std::vector<symbol::Shape> &shapes,
                 std::vector<DlcSymbolShape> &views) {
  views.clear();
  for (const symbol::Shape &shape : shapes)
    views.push_back({shape ? shape->data() : nullptr,
                     shape ? static_cast<int32_t>(shape->size()) : -1});
}

DlcStatus dlcSymbolInferShapes(DlcSymbol symbol, const DlcInputShape *known,
                               size_t count, int isPartial,
                               DlcSymbolShapes *shapes) {
  if (!symbol || !shapes || (count && !known))
    return missing(!symbol   ? "a symbol"
                   : !shapes ? "a place for the shapes"
                             : "known shapes");
  symbol::KnownShapes given;
  for (size_t i = 0; i < count; ++i) {
    const DlcInputShape &each = known[i];
    rt::Status status = rt::noteShape(each.name, each.shape, each.rank, given);
    if (!status.isOk())
      return toStatus(status);
  }
  auto inferred =
      symbol::inferShapes(symbol->symbol, given, completeness(isPartial));
  if (!inferred.isOk())
    return toStatus(inferred.status());
  symbol->shapes = std::move(*inferred);
  auto &[arguments, outputs, states] = symbol->views;
  view(symbol->shapes.arguments, arguments);
  view(symbol->shapes.outputs, outputs);
  view(symbol->shapes.auxiliaryStates, states);
  return toStatus(rt::fillStruct(
      shapes, {sizeof(DlcSymbolShapes), arguments.data(), arguments.size(),
               outputs.data(), outputs.size(), states.data(), states.size(),
               symbol->shapes.isComplete}));
}

DlcStatus dlcSymbolInferTypes(DlcSymbol symbol, const DlcSymbolType *known,
                              size_t count, int isPartial,
                              DlcSymbolTypes *types) {
  if (!symbol || !types || (count && !known))
    return missing(!symbol  ? "a symbol"
                   : !types ? "a place for the types"
                            : "known types");
  symbol::KnownTypes given;
  for (size_t i = 0; i < count; ++i) {
    rt::Status status = rt::noteType(known[i].name, known[i].type, given);
    if (!status.isOk())
      return toStatus(status);
  }
  auto inferred =
      symbol::inferTypes(symbol->symbol, given, completeness(isPartial));
  if (!inferred.isOk())
    return toStatus(inferred.status());
  symbol->types = std::move(*inferred);
  const auto &[arguments, outputs, states, isComplete] = symbol->types;
  return toStatus(
      rt::fillStruct(types, {sizeof(DlcSymbolTypes), arguments.data(),
                             arguments.size(), outputs.data(), outputs.size(),
                             states.data(), states.size(), isComplete}));
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

DlcStatus dlcSymbolCompile(DlcSymbol symbol, const char *name,
                           DlcCompiler compiler) {
  if (!symbol || !name || !compiler)
    return missing(!symbol ? "a symbol" : name ? "a compiler" : "a name");
  return importModel(compiler, [&](Compilation &compilation) {
    return compilation.import(symbol->symbol, name);
  });
}

//===----------------------------------------------------------------------===//
// Gradients and executors
//===----------------------------------------------------------------------===//

DlcStatus dlcSymbolGradient(DlcSymbol symbol, const DlcSymbol *wrt,
                            size_t count, const char *name,
                            DlcSymbol *gradients) {
  if (!symbol || (count && !wrt))
    return missing(symbol ? "symbols to differentiate by" : "a symbol");
  std::vector<Symbol> sources;
  for (size_t i = 0; i < count; ++i) {
    if (!wrt[i])
      return missing("a symbol to differentiate by");
    sources.push_back(wrt[i]->symbol);
  }
  return handOut(symbol->symbol.gradient(sources, name ? name : ""), gradients);
}

static rt::Status toGroups(const DlcNetworkOptions &options,
                           std::map<std::string, rt::Context> &groups) {
  std::map<std::string, std::string> devices;
  DLC_RETURN_IF_ERROR(noteGroups(options.groups, options.groupCount, devices));
  for (const auto &[group, device] : devices) {
    rt::Result<rt::Context> context = rt::Context::parse(device);
    if (!context.isOk())
      return std::move(context.status());
    groups.try_emplace(group, *context);
  }
  return rt::Status::ok();
}

DlcStatus dlcSymbolMakeNetwork(DlcSymbol symbol,
                               const DlcNetworkOptions *options,
                               DlcNetwork *network) {
  if (!symbol || !network)
    return missing(symbol ? "a place for the network" : "a symbol");
  NetworkOptions chosen;
  if (options) {
    DlcNetworkOptions known = {sizeof(known), nullptr, nullptr, 0, nullptr, 0};
    if (rt::Status status = rt::readOptions(*options, known); !status.isOk())
      return toStatus(status);
    chosen.name = known.name ? known.name : chosen.name;
    chosen.target = known.target ? known.target : chosen.target;
    chosen.threads = known.threads;
    if (rt::Status status = toGroups(known, chosen.groups); !status.isOk())
      return toStatus(status);
  }
  auto made = makeNetwork(symbol->symbol, chosen);
  if (!made.isOk())
    return toStatus(made.status());
  return dlcNetworkAdopt(&*made, DLC_VERSION, network);
}
