/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbols from C: networks that are composed out of variables and operators,
 * read from and written to MXNet's JSON, and compiled.
 *
 *   DlcSymbol data, fc;
 *   const char *keys[] = {"num_hidden"}, *values[] = {"10"};
 *   dlcSymbolCreateVariable("data", &data);
 *   dlcSymbolCreateAtomic("FullyConnected", keys, values, 1, &fc);
 *   dlcSymbolCompose(fc, "fc", NULL, &data, 1);
 *   dlcSymbolListArguments(fc, &names, &count);     data, fc_weight, fc_bias
 *
 * The semantics are those of NNVM and MXNet 1.9.1. Nodes are shared: a symbol
 * that was made out of others stays whole when they are destroyed, and an
 * attribute that is set is seen through all of them.
 *
 * Symbols that share nodes are for one thread at a time. Text and lists that a
 * symbol hands out belong to it and live until its next call that hands out
 * some, or its end.
 */

#ifndef DLC_C_SYMBOL_H
#define DLC_C_SYMBOL_H

#include "dlc-c/Compiler.h"
#include "dlc-c/Executor.h"

typedef struct DlcSymbolImpl *DlcSymbol;

/*===-- Operators ---------------------------------------------------------===*/

/* A parameter of an operator; all text lives forever. Will not grow. */
typedef struct DlcOperatorParameter {
  const char *name;
  const char *kind;         /* "bool", "int", "float", "text", "choice", "type",
                               "ints", "optional ints", "floats" */
  const char *defaultValue; /* null: must be given */
  const char *summary;
} DlcOperatorParameter;

/* How many operators there are. Since 0.1 (unstable) */
DLC_API size_t dlcOperatorCount(void);

/* The name of operator `index`, in the order of bytes; null past the last.
 * Lives forever. Since 0.1 (unstable) */
DLC_API const char *dlcOperatorName(size_t index);

/* What the operator of that name or alias does, a sentence that lives forever.
 * DLC_NOT_FOUND for other names. Since 0.1 (unstable) */
DLC_API DlcStatus dlcOperatorSummary(const char *op, const char **summary);

/* How many parameters it has. Errors as above. Since 0.1 (unstable) */
DLC_API DlcStatus dlcOperatorParameterCount(const char *op, size_t *count);

/* Describes parameter `index`. DLC_INVALID_ARGUMENT for an index out of range,
 * otherwise as above. Since 0.1 (unstable) */
DLC_API DlcStatus dlcOperatorDescribeParameter(const char *op, size_t index,
                                               DlcOperatorParameter *parameter);

/*===-- Making symbols ----------------------------------------------------===*/

/* Makes a variable. The caller destroys it. DLC_INVALID_ARGUMENT for an empty
 * name or one that is not UTF-8. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCreateVariable(const char *name, DlcSymbol *symbol);

/* Makes an operator that is applied to nothing yet, with parameters and
 * attributes as text. The caller destroys it. DLC_NOT_FOUND for an operator
 * that does not exist, DLC_INVALID_ARGUMENT for values that are none of its
 * parameters. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCreateAtomic(const char *op, const char *const *keys,
                                        const char *const *values, size_t count,
                                        DlcSymbol *symbol);

/* Makes a symbol with the outputs of all parts. The caller destroys it.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCreateGroup(const DlcSymbol *parts, size_t count,
                                       DlcSymbol *symbol);

/* Applies an atomic symbol, or replaces variables of another one, in place:
 * `arguments` go by position or, with `keys`, by name. Inputs of an operator
 * that are not given become variables <name>_<input>; a null name is made up,
 * or stays, where the operator was applied before.
 * DLC_INVALID_ARGUMENT, with the symbol as it was, for arguments that do not
 * fit. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCompose(DlcSymbol symbol, const char *name,
                                   const char *const *keys,
                                   const DlcSymbol *arguments, size_t count);

typedef enum DlcArithmetic {
  DLC_ADD = 0,
  DLC_SUBTRACT = 1,
  DLC_MULTIPLY = 2,
  DLC_DIVIDE = 3,
  DLC_ARITHMETIC_LIMIT = 0x7fffffff
} DlcArithmetic;

/* Makes `a` + `b`, and so on, of symbols of one output each, element by element
 * on equal shapes. The caller destroys it. DLC_INVALID_ARGUMENT for more or
 * fewer outputs and for an unknown arithmetic. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCombine(DlcArithmetic arithmetic, DlcSymbol a,
                                   DlcSymbol b, DlcSymbol *result);

/* The same with a number on the right or, when `isScalarFirst`, on the left.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCombineScalar(DlcArithmetic arithmetic,
                                         DlcSymbol symbol, double scalar,
                                         int isScalarFirst, DlcSymbol *result);

/* Makes the same network of nodes of its own. The caller destroys it.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCopy(DlcSymbol symbol, DlcSymbol *copy);

/* Ends a symbol, not what was made out of it; null is ignored.
 * Since 0.1 (unstable) */
DLC_API void dlcSymbolDestroy(DlcSymbol symbol);

/*===-- Scopes ------------------------------------------------------------===*/

/* Scopes say something of all symbols that the calling thread makes until they
 * are closed. They nest, and those left open end with the thread. */

/* Gives attributes to all variables and to all operators that are made atomic;
 * what these say of themselves counts more, and inner scopes more than outer
 * ones. Symbols fail for text that is not UTF-8. DLC_INVALID_ARGUMENT for a key
 * given twice. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolOpenAttributeScope(const char *const *keys,
                                              const char *const *values,
                                              size_t count);

/* Puts `prefix` (null: nothing) in front of the names of operators that are
 * applied, given and made up, and counts the latter from 0. Names of variables
 * stay as they are given. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolOpenNameScope(const char *prefix);

/* Closes the scope that this thread opened last. DLC_INVALID_ARGUMENT when none
 * is open. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCloseScope(void);

/*===-- Files and text ----------------------------------------------------===*/

/* Reads a *-symbol.json of MXNet 0.8 to 1.9. The caller destroys the symbol.
 * DLC_DATA_LOSS for malformed text, DLC_INVALID_ARGUMENT for what contradicts
 * itself, DLC_UNSUPPORTED for operators that do not exist here.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolFromJson(const char *text, size_t size,
                                    DlcSymbol *symbol);

/* Hands out the text of such a file. `size`, without the closing zero, may be
 * null. DLC_INVALID_ARGUMENT for an empty group. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolToJson(DlcSymbol symbol, const char **text,
                                  size_t *size);

/* Hands out the network as text for people. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolPrint(DlcSymbol symbol, const char **text);

/*===-- What a symbol tells -----------------------------------------------===*/

/* The name of the node; "" for a group. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolName(DlcSymbol symbol, const char **name);

/* Names of variables that no operator writes, in the order of arguments.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolListArguments(DlcSymbol symbol,
                                         const char *const **names,
                                         size_t *count);
/* Names of variables that some operator writes. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolListAuxiliaryStates(DlcSymbol symbol,
                                               const char *const **names,
                                               size_t *count);
/* Names of all variables. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolListInputs(DlcSymbol symbol,
                                      const char *const **names, size_t *count);
/* Names of outputs. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolListOutputs(DlcSymbol symbol,
                                       const char *const **names,
                                       size_t *count);

/* Makes a symbol of output `index`. The caller destroys it.
 * DLC_INVALID_ARGUMENT for an index out of range. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolGetOutput(DlcSymbol symbol, size_t index,
                                     DlcSymbol *output);
/* Makes a group of every visible output of every node. The caller destroys it.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolGetInternals(DlcSymbol symbol, DlcSymbol *internals);
/* Makes a group of the inputs of the nodes with the outputs; empty for a
 * variable. The caller destroys it. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolGetChildren(DlcSymbol symbol, DlcSymbol *children);

/* Makes a symbol of the gradients of the sum of all elements of all outputs, by
 * each of `wrt`, symbols of one output in the network. It computes with what
 * the symbol computes and has gradients again; a null name is made up. The
 * caller destroys it. DLC_INVALID_ARGUMENT (an empty list, a symbol that is not
 * in the network).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolGradient(DlcSymbol symbol, const DlcSymbol *wrt,
                                    size_t count, const char *name,
                                    DlcSymbol *gradients);

/*===-- Attributes --------------------------------------------------------===*/

/* The value of an attribute of the node; null when it has none.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolGetAttribute(DlcSymbol symbol, const char *key,
                                        const char **value);

/* Changes an attribute of the node. DLC_INVALID_ARGUMENT for a group and for a
 * value that a parameter cannot have. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolSetAttribute(DlcSymbol symbol, const char *key,
                                        const char *value);

/* Attributes as keys and values in turn, `count` pairs: of the node or, when
 * `isDeep`, of all nodes, with keys <node>$<key>. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolListAttributes(DlcSymbol symbol, int isDeep,
                                          const char *const **pairs,
                                          size_t *count);

/* Makes the nodes of the outputs run after those of `others`.
 * DLC_INVALID_ARGUMENT when these need results of the symbol.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolAddControlDependencies(DlcSymbol symbol,
                                                  DlcSymbol others);

/*===-- Shapes and types --------------------------------------------------===*/

/* A shape; the rank is -1 when it is not known, as dims may be. Will not
 * grow. */
typedef struct DlcSymbolShape {
  const int64_t *dims;
  int32_t rank;
} DlcSymbolShape;

/* What is known of everything, in the order of the lists; it belongs to the
 * symbol. The caller sets structSize. */
typedef struct DlcSymbolShapes {
  size_t structSize;
  const DlcSymbolShape *arguments;
  size_t argumentCount;
  const DlcSymbolShape *outputs;
  size_t outputCount;
  const DlcSymbolShape *auxiliaryStates;
  size_t auxiliaryStateCount;
  int isComplete; /* nothing is left unknown */
} DlcSymbolShapes;

/* Infers shapes, in both directions, out of those of some variables; dims below
 * 0 are open. What cannot be told is an error, unless `isPartial`.
 * DLC_INVALID_ARGUMENT for contradictions: the message names node, operator,
 * operand, what was expected and found. DLC_UNSUPPORTED for parameters that are
 * not supported. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolInferShapes(DlcSymbol symbol,
                                       const DlcInputShape *known, size_t count,
                                       int isPartial, DlcSymbolShapes *shapes);

/* The type of a variable. Will not grow. */
typedef struct DlcSymbolType {
  const char *name;
  DlcDataType type;
} DlcSymbolType;

/* As DlcSymbolShapes; DLC_INVALID_TYPE where nothing is known. */
typedef struct DlcSymbolTypes {
  size_t structSize;
  const DlcDataType *arguments;
  size_t argumentCount;
  const DlcDataType *outputs;
  size_t outputCount;
  const DlcDataType *auxiliaryStates;
  size_t auxiliaryStateCount;
  int isComplete;
} DlcSymbolTypes;

/* Infers element types; otherwise as dlcSymbolInferShapes.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolInferTypes(DlcSymbol symbol,
                                      const DlcSymbolType *known, size_t count,
                                      int isPartial, DlcSymbolTypes *types);

/*===-- Compiling ---------------------------------------------------------===*/

/* Takes a symbol as the model of a compiler, with the shapes and the parameters
 * that its options give; variables without a value become inputs, except
 * labels. `name` stands for the model in messages. Errors as for
 * dlcCompilerImportFile. Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolCompile(DlcSymbol symbol, const char *name,
                                   DlcCompiler compiler);

/*===-- Executors ---------------------------------------------------------===*/

typedef struct DlcNetworkOptions {
  size_t structSize;
  const char *name;   /* stands for the symbol in messages; null: "symbol" */
  const char *target; /* as in DlcCompilerOptions; null: this machine */
  uint32_t threads;   /* that generate code; 0: one for each processor */
  const DlcGroupDevice *groups; /* MXNet's group2ctx, devices like "cpu:1" */
  size_t groupCount;            /* 0: one device runs all; else each group of
                                   the symbol needs a device; others may
                                   have one, as in MXNet */
} DlcNetworkOptions;

/* Makes a copy of a symbol a network, which executors (dlc-c/Executor.h)
 * compile and run; those of one network share its programs. Null options: the
 * defaults. DLC_INVALID_ARGUMENT (an empty group, an operator that is not
 * applied, two variables of one name, a target that there is no code
 * for, a group of nodes with two devices, with one of no known kind, or, where
 * others have one, without).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcSymbolMakeNetwork(DlcSymbol symbol,
                                       const DlcNetworkOptions *options,
                                       DlcNetwork *network);

#endif /* DLC_C_SYMBOL_H */
