/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiling models from C: a model in, a compiled program or text out.
 *
 *   DlcCompiler compiler;          one model on its way
 *   dlcCompilerCreate(NULL, &compiler);
 *   dlcCompilerImportFile(compiler, "model.onnx");
 *   dlcCompilerWriteFile(compiler, "model.dlc");
 *   dlcCompilerDestroy(compiler);
 *
 * A compiler is for one thread at a time; different compilers may work in
 * different threads at once. When a call fails, its status carries the first
 * error, dlcCompilerMessages all messages; after a failure that left the model
 * half-way, the compiler answers messages and destruction only.
 *
 * libdlc.so brings libdlc_rt.so, where Common.h and Runtime.h are implemented.
 */

#ifndef DLC_C_COMPILER_H
#define DLC_C_COMPILER_H

#include "dlc-c/Runtime.h"

typedef struct DlcCompilerImpl *DlcCompiler;
typedef struct DlcBufferImpl *DlcBuffer;

/*===-- Options -----------------------------------------------------------===*/

/* The shape of an input: values for the dimensions that the model leaves open,
 * and those that it declares; below 0 says nothing. Will not grow. */
typedef struct DlcInputShape {
  const char *name;
  const int64_t *shape;
  int32_t rank;
} DlcInputShape;

/* An input of an ONNX model that always is this number, in all of its elements:
 * the program has no such input. Its shape is known. Will not grow. */
typedef struct DlcInputConstant {
  const char *name;
  double value;
} DlcInputConstant;

/* Sizes, from 1 up and each once, of an extent that the model leaves open: by
 * its name, or that of an input and its number in it, "x.2", where it has none.
 * Will not grow. */
typedef struct DlcExtent {
  const char *name;
  const int64_t *sizes;
  size_t count;
} DlcExtent;

/* The device, like "cpu:1", of a group of operations: MXNet's ctx_group. Will
 * not grow. */
typedef struct DlcGroupDevice {
  const char *group;
  const char *device;
} DlcGroupDevice;

/* Told of a remark or of a phase; the text lives for the call only. Called in
 * the thread that compiles; must not use the compiler. */
typedef void (*DlcCompilerCallback)(void *userData, const char *text);

/* Zero or null everywhere but in structSize means the defaults. Everything is
 * copied by dlcCompilerCreate, except what userData points to. */
typedef struct DlcCompilerOptions {
  size_t structSize;
  const char *target;  /* host, x86-64, x86-64-v2, x86-64-v3, x86-64-v4, or
                          several with commas: the program has code for each,
                          and a machine runs the best that it can; null: host */
  uint32_t threads;    /* that generate code; at most 1024; 0: one for each
                          processor */
  int64_t searchSteps; /* branches that the memory planner may expand for each
                          arena; 0: the default, -1: none */
  const DlcInputShape *shapes;
  size_t shapeCount;
  const char *reproducer;       /* where a failing pass leaves its input */
  DlcCompilerCallback onRemark; /* "category: model.onnx: node 'a': text" */
  DlcCompilerCallback onPhase;  /* the name of a phase that begins */
  void *userData;               /* handed to the callbacks */
  const char *params;           /* a file with the parameters of an MXNet
                                   network, or with those that an ONNX model
                                   has instead of its own; null: none */
  const DlcGroupDevice *groups; /* without any, all is on cpu:0; with some,
                                   each group of the model needs one,
                                   and no other gets one */
  size_t groupCount;
  int64_t memoryBudget;  /* bytes that the program may keep values in: what does
                            not fit is computed again; 0: no limit */
  const char *precision; /* fp32: each operation within 2e-5 of its largest
                            value; fp32-strict: within 4e-6, sums of products
                            computed as such; bf16: as fp32, but floats of
                            products and convolutions with constants and of
                            attention are rounded to bfloat16, 2^-8 of each,
                            and may be kept so; tf32: as fp32, but products
                            on a GPU may round floats to 10 bits;
                            null: fp32 */
  const char *tuningCache; /* file of times of kernels on machines: of kernels
                              that there is a choice between, those whose times
                              are known for this machine are chosen by them; one
                              that cannot be read is left out, as a message
                              says; null: none */
  double tuneSeconds;      /* above 0, with the target host: how long times that
                              are not known may be measured; they are added to
                              the cache, if there is one; 0: not at all */
  const char *gpuLibraries; /* what cuBLASLt and cuDNN compute of a GPU's
                               kernels where they are found: auto, large
                               products, and convolutions where most are large;
                               always, all that they have; never; null: auto */
  const int64_t *batches;   /* where the model leaves the size of the batch open
                               and nothing else: the numbers of examples that are
                               computed at once, ascending from 1 to at most
                               65536; null: 1, 4 and 16, and more as long as
                               reading weights takes much of the time */
  size_t batchCount;        /* 0 with batches: the size stays open to kernels,
                               which are slow then */
  const DlcExtent *extents; /* sizes of what the model leaves open: there is a
                               program for each combination, 1024 at most, and a
                               run takes the one that its inputs fit, or the next
                               larger one of a model that can be padded */
  size_t extentCount;       /* 0 without extents: where one is open beside the
                               batch, and the model can be padded, there are
                               programs for the usual lengths up to 512, and a
                               slow one for any other; 0 with extents: it stays
                               open to slow kernels */
  const DlcInputConstant *constants;
  size_t constantCount;
} DlcCompilerOptions;

/*===-- Compilers ---------------------------------------------------------===*/

/* Makes a compiler without a model. Null options are the defaults. The caller
 * destroys it. DLC_INVALID_ARGUMENT for options that contradict their
 * description, DLC_UNSUPPORTED for options of a newer version of this
 * structure. Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerCreate(const DlcCompilerOptions *options,
                                    DlcCompiler *compiler);

/* Ends a compiler and the text that it handed out, not its buffers; null is
 * ignored. Since 0.1 (unstable) */
DLC_API void dlcCompilerDestroy(DlcCompiler compiler);

/* Reads an .onnx model, an MXNet network (-symbol.json) or Graph text (.mlir).
 * The file and its external data must not change while the compiler lives.
 * DLC_UNSUPPORTED when the model is well formed and needs what DLC does not do,
 * DLC_INVALID_ARGUMENT when it is refused otherwise or the compiler has one
 * already. Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerImportFile(DlcCompiler compiler, const char *path);

/* Reads an ONNX model from memory, which is borrowed: it stays alive and
 * unchanged as long as the compiler. `name` stands for the file in messages.
 * External data is refused. Errors as for dlcCompilerImportFile.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerImportMemory(DlcCompiler compiler,
                                          const void *bytes, size_t size,
                                          const char *name);

/* 0 before a model is imported. Since 0.1 (unstable) */
DLC_API size_t dlcCompilerInputCount(DlcCompiler compiler);
/* 0 before a model is imported. Since 0.1 (unstable) */
DLC_API size_t dlcCompilerOutputCount(DlcCompiler compiler);

/* Describes input `index` of the imported model; the pointers belong to the
 * compiler. DLC_INVALID_ARGUMENT for an index out of range.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerInput(DlcCompiler compiler, size_t index,
                                   DlcPort *port);
/* Describes output `index` of the imported model; otherwise the same.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerOutput(DlcCompiler compiler, size_t index,
                                    DlcPort *port);

/* Compiles to the end and writes the program to `path`, whole or not at all.
 * DLC_UNSUPPORTED when the model needs what DLC does not do,
 * DLC_INVALID_ARGUMENT when it cannot be compiled otherwise, DLC_UNAVAILABLE
 * when the file cannot be written. Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerWriteFile(DlcCompiler compiler, const char *path);

/* Compiles to the end; the bytes that dlcCompilerWriteFile would write, for
 * dlcProgramLoadMemory. The caller destroys the buffer, which outlives the
 * compiler. Errors as for dlcCompilerWriteFile. Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerWriteMemory(DlcCompiler compiler,
                                         DlcBuffer *buffer);

/*===-- Text --------------------------------------------------------------===*/

/* What to leave out of printed IR. Appended to, never reordered. */
typedef enum DlcPrintMode {
  DLC_PRINT_SHORT = 0, /* large constants are elided */
  DLC_PRINT_FULL = 1,  /* everything, so that it parses again */
  DLC_PRINT_LIMIT = 0x7fffffff
} DlcPrintMode;

/* Compiles up to `phase` (one of dlcCompilerPhaseName, at most "codegen") and
 * hands out the model as text, which belongs to the compiler and lives until
 * its next dlcCompilerPrint. `size`, without the closing zero, may be null.
 * DLC_INVALID_ARGUMENT for an unknown phase and one that lies behind; otherwise
 * errors as for dlcCompilerWriteFile. Since 0.1 (unstable) */
DLC_API DlcStatus dlcCompilerPrint(DlcCompiler compiler, const char *phase,
                                   DlcPrintMode mode, const char **text,
                                   size_t *size);

/* All errors and warnings so far, one a line; "" for none and for null.
 * Belongs to the compiler and lives until its next call.
 * Since 0.1 (unstable) */
DLC_API const char *dlcCompilerMessages(DlcCompiler compiler);

/* How many phases there are. Since 0.1 (unstable) */
DLC_API size_t dlcCompilerPhaseCount(void);

/* The name of phase `index`, from "import" to "artifact"; null past the last.
 * Lives forever. Since 0.1 (unstable) */
DLC_API const char *dlcCompilerPhaseName(size_t index);

/*===-- Buffers -----------------------------------------------------------===*/

/* The bytes, aligned to DLC_ALIGNMENT; they belong to the buffer and never
 * change, so any thread may read them. Null for null.
 * Since 0.1 (unstable) */
DLC_API const void *dlcBufferData(DlcBuffer buffer);

/* In bytes; 0 for null. Since 0.1 (unstable) */
DLC_API size_t dlcBufferSize(DlcBuffer buffer);

/* Ends a buffer, after the programs that were loaded from it; null is ignored.
 * Since 0.1 (unstable) */
DLC_API void dlcBufferDestroy(DlcBuffer buffer);

#endif /* DLC_C_COMPILER_H */
