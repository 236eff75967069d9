/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays on devices from C. An operation is pushed to an engine and returns at
 * once; its error arrives where somebody waits for what it wrote.
 *
 *   DlcArrayRuntime runtime;
 *   dlcArrayRuntimeCreate(engine, &runtime);
 *   DlcNDArray x, y;
 *   dlcNDArrayCreate(runtime, DLC_F32, shape, 2, cpu, &x);
 *   dlcNDArrayCreate(runtime, DLC_F32, shape, 2, cpu, &y);
 *   dlcNDArrayCopyFromHost(x, values, sizeof(values));
 *   dlcNDArrayApply("exp", &x, 1, &y, 1);
 *   dlcNDArrayCopyToHost(y, values, sizeof(values));
 *
 * A DlcNDArray is a handle: views share the memory and the order of operations
 * with the array they were made from, and memory lives as long as a handle or
 * an operation that uses it. Handles may outlive the runtime and the engine. A
 * handle may be used by several threads; the order of the calls defines what
 * each operation sees. Operations must not end handles.
 *
 * In the child of a fork arrays of the parent are refused (DLC_UNAVAILABLE),
 * their handles can be ended, and once the engine was started there, the
 * runtime makes new ones.
 *
 * Errors of every function that returns a status: DLC_INVALID_ARGUMENT (a null
 * handle or place) and those of the engine (see dlc-c/Engine.h).
 */

#ifndef DLC_C_NDARRAY_H
#define DLC_C_NDARRAY_H

#include "dlc-c/Resource.h"

typedef struct DlcArrayRuntimeImpl *DlcArrayRuntime;
typedef struct DlcNDArrayImpl *DlcNDArray;
typedef struct DlcNDArrayListImpl *DlcNDArrayList;
typedef struct DlcTextListImpl *DlcTextList;

/* Of dlpack.h (https://github.com/dmlc/dlpack), version 1. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

typedef enum DlcArrayFormat {
  DLC_ARRAY_NPY = 0,    /* one array of NumPy; its name is not stored */
  DLC_ARRAY_NPZ = 1,    /* named arrays of NumPy */
  DLC_ARRAY_PARAMS = 2, /* MXNet's .params, named or all without names */
  DLC_ARRAY_FORMAT_LIMIT = 0x7fffffff
} DlcArrayFormat;

/*===-- Life --------------------------------------------------------------===*/

/* Where arrays live: shares `engine` and has pools of memory for the devices of
 * the host. Since 0.1 (unstable) */
DLC_API DlcStatus dlcArrayRuntimeCreate(DlcEngine engine,
                                        DlcArrayRuntime *runtime);
/* The same with memory of `storage`, null: of its own, and the resources that
 * operations of arrays use. The handle may be destroyed before. Null options:
 * the defaults. Since 0.1 (unstable) */
DLC_API DlcStatus dlcArrayRuntimeCreateWith(DlcEngine engine,
                                            DlcStorage storage,
                                            const DlcResourceOptions *options,
                                            DlcArrayRuntime *runtime);
/* Handles of the memory of arrays and of the resources of their operations, the
 * caller's to destroy: for statistics, dlcStorageTrim, dlcResourcesTrim.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcArrayRuntimeGetStorage(DlcArrayRuntime runtime,
                                            DlcStorage *storage);
/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcArrayRuntimeGetResources(DlcArrayRuntime runtime,
                                              DlcResources *resources);
/* Since 0.1 (unstable) */
DLC_API void dlcArrayRuntimeDestroy(DlcArrayRuntime runtime);

/* Starts the sequences of random numbers of all devices from the beginning of
 * another seed (at first: 0), after what was pushed before.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcArrayRuntimeSeed(DlcArrayRuntime runtime, uint64_t seed);

/* An array that has no memory before the first operation writes it. Errors:
 * DLC_INVALID_ARGUMENT (type or shape), DLC_UNSUPPORTED (a device without
 * memory; DLC_TEXT on others than DLC_DEVICE_CPU and DLC_DEVICE_CPU_PINNED).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayCreate(DlcArrayRuntime runtime, DlcDataType type,
                                   const int64_t *shape, int32_t rank,
                                   DlcContext context, DlcNDArray *array);
/* Ends a handle; null is ignored. Since 0.1 (unstable) */
DLC_API void dlcNDArrayDestroy(DlcNDArray array);

/* Type and shape, which belongs to the handle; `data` is null. Waits for
 * nothing. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayDescribe(DlcNDArray array, DlcTensor *tensor);
/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayGetContext(DlcNDArray array, DlcContext *context);
/* The variable of its memory, for operations of dlc-c/Engine.h. Belongs to the
 * array. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayGetVariable(DlcNDArray array,
                                        DlcVariable *variable);

/*===-- Views -------------------------------------------------------------===*/

/* Rows `begin` to `end`, not included, along dimension 0. Errors:
 * DLC_INVALID_ARGUMENT (a scalar, rows outside, elements of less than a byte
 * that share one with others than those of the view). Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArraySlice(DlcNDArray array, int64_t begin, int64_t end,
                                  DlcNDArray *view);
/* Row `index`, with one dimension less; as dlcNDArraySlice.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayAt(DlcNDArray array, int64_t index,
                               DlcNDArray *view);
/* The same elements in another shape, one dimension of which may be -1: what is
 * left for it. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayReshape(DlcNDArray array, const int64_t *shape,
                                    int32_t rank, DlcNDArray *view);

/*===-- Operations: pushed, and returned from at once ---------------------===*/

/* Copies all elements to an array of the same type and shape on any device.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayCopyTo(DlcNDArray array, DlcNDArray target);

/* Sets all elements, converted as a cast does. Errors: DLC_INVALID_ARGUMENT
 * (element types after DLC_F64: they are copied and exchanged alone).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayFill(DlcNDArray array, double value);

/* Fills floats with random numbers, uniform in [low, high) or normal: the next
 * ones of the device's sequence; what lies beyond the range of the type is its
 * largest number. Types other than DLC_F64 take the parameters rounded to
 * DLC_F32. Errors: DLC_INVALID_ARGUMENT (elements that are not floats; a range
 * without numbers of the type, a deviation below 0, or not finite).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayFillUniform(DlcNDArray array, double low,
                                        double high);
/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayFillNormal(DlcNDArray array, double mean,
                                       double deviation);

/* Pushes `outputs = operation(inputs)` for a Graph operation that needs no
 * attributes: "add", "exp", "matmul"... Absent operands are null. Outputs may
 * be inputs but must not overlap each other. Errors, before anything is pushed:
 * DLC_NOT_FOUND (with the nearest name that there is), DLC_INVALID_ARGUMENT
 * (types and shapes that do not fit), DLC_UNSUPPORTED (shapes that depend on
 * values). Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayApply(const char *operation,
                                  const DlcNDArray *inputs, size_t inputCount,
                                  const DlcNDArray *outputs,
                                  size_t outputCount);

/* How many operations there are. Since 0.1 (unstable) */
DLC_API size_t dlcOperationCount(void);

/* The name of operation `index`, in the order of bytes; null past the last.
 * Lives forever. Since 0.1 (unstable) */
DLC_API const char *dlcOperationName(size_t index);

/* The names of its attributes, in the order of bytes, with spaces between; ""
 * without any. Lives forever. DLC_NOT_FOUND for a name that is no operation's.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcOperationAttributes(const char *operation,
                                         const char **names);

typedef enum DlcAttributeKind {
  DLC_ATTRIBUTE_INT = 0,    /* an int64_t; also truth and DlcDataType */
  DLC_ATTRIBUTE_FLOAT = 1,  /* a double */
  DLC_ATTRIBUTE_TEXT = 2,   /* characters up to a zero */
  DLC_ATTRIBUTE_INTS = 3,   /* `count` of int64_t */
  DLC_ATTRIBUTE_FLOATS = 4, /* `count` of double */
  DLC_ATTRIBUTE_KIND_LIMIT = 0x7fffffff
} DlcAttributeKind;

/* An attribute of an operation; name and value are copied. Will not grow. */
typedef struct DlcAttribute {
  const char *name;
  DlcAttributeKind kind;
  size_t count;
  const void *value;
} DlcAttribute;

/* The same with attributes, those of the Graph dialect, and a priority.
 * DLC_INVALID_ARGUMENT for an attribute that the operation does not have, or
 * that is of another kind. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayApplyWith(
    const char *operation, const DlcAttribute *attributes,
    size_t attributeCount, int32_t priority, const DlcNDArray *inputs,
    size_t inputCount, const DlcNDArray *outputs, size_t outputCount);

/*===-- Waiting -----------------------------------------------------------===*/

/* Waits until the caller may read or write the memory, and returns the error
 * that poisons it. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayWait(DlcNDArray array, DlcVariableUse use);

/* Counts the completed writes of the memory. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayVersion(DlcNDArray array, uint64_t *version);

/* Copies from or to host memory of exactly the array's size and waits until
 * that is done. Errors: DLC_UNSUPPORTED (text). Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayCopyFromHost(DlcNDArray array, const void *bytes,
                                         size_t size);
/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayCopyToHost(DlcNDArray array, void *bytes,
                                       size_t size);

/* Bytes, usually UTF-8; null stands for none. Will not grow. */
typedef struct DlcText {
  const char *bytes;
  size_t length;
} DlcText;

/* Copies texts to all elements, in order, of an array of DLC_TEXT, and waits
 * until that is done. Errors: DLC_INVALID_ARGUMENT (another number of texts,
 * elements that are none). Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayCopyFromTexts(DlcNDArray array,
                                          const DlcText *texts, size_t count);
/* The elements of an array of DLC_TEXT as they are now, after a wait; the
 * caller's. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayCopyToTexts(DlcNDArray array, DlcTextList *list);
/* Since 0.1 (unstable) */
DLC_API size_t dlcTextListSize(DlcTextList list);
/* Text `index`, which belongs to the list and has a zero, not counted, at its
 * end. Since 0.1 (unstable) */
DLC_API DlcStatus dlcTextListGet(DlcTextList list, size_t index, DlcText *text);
/* Since 0.1 (unstable) */
DLC_API void dlcTextListDestroy(DlcTextList list);

/* Waits as dlcNDArrayWait does and gives the elements' address, for use until
 * the next operation is pushed. In the function of an operation that has the
 * array's variable among its reads or writes (for DLC_USE_WRITE: its writes) it
 * waits for nothing, and the address is good until the operation is over: so a
 * function gets at the elements of its arrays. Errors: DLC_INVALID_ARGUMENT (a
 * read of what was never written), DLC_UNSUPPORTED (memory of a device, text).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayHostAccess(DlcNDArray array, DlcVariableUse use,
                                       void **data);

/*===-- Files -------------------------------------------------------------===*/

/* Reads all arrays of an .npy, .npz or .params file, told apart by its first
 * bytes, to memory of the storage on a device; there may be none in the last
 * two. Sparse arrays become dense, up to 1 GiB each. Errors: DLC_NOT_FOUND,
 * DLC_DATA_LOSS (malformed, or another file), DLC_INVALID_ARGUMENT (what is no
 * regular file; a larger sparse array), DLC_UNSUPPORTED (element types),
 * DLC_OUT_OF_MEMORY (beyond the cap of the storage, too).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayLoad(DlcArrayRuntime runtime, const char *path,
                                 DlcContext context, DlcNDArrayList *list);
/* Since 0.1 (unstable) */
DLC_API size_t dlcNDArrayListSize(DlcNDArrayList list);
/* The name of array `index`, "" without one or past the end; belongs to the
 * list. Since 0.1 (unstable) */
DLC_API const char *dlcNDArrayListName(DlcNDArrayList list, size_t index);
/* A handle of array `index`, the caller's. Errors: DLC_NOT_FOUND (an array
 * that MXNet saved undefined). Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayListGet(DlcNDArrayList list, size_t index,
                                    DlcNDArray *array);
/* Since 0.1 (unstable) */
DLC_API void dlcNDArrayListDestroy(DlcNDArrayList list);

/* Writes a file as a whole or not at all, in the order of the engine, and waits
 * for that. Null `names`: none, which in an .npz become "arr_0", "arr_1" and so
 * on, as do empty ones. Texts are written as long as the longest of their
 * array. Errors: DLC_INVALID_ARGUMENT (other than one array for DLC_ARRAY_NPY,
 * two of one name, names in an .npz that are no UTF-8 or have a part "..",
 * arrays of several engines), DLC_UNSUPPORTED (memory of a device; what the
 * format has no name for: text in DLC_ARRAY_PARAMS, a text that ends in a
 * zero), DLC_UNAVAILABLE (the file, or room for it), DLC_OUT_OF_MEMORY.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArraySave(const char *path, DlcArrayFormat format,
                                 const char *const *names,
                                 const DlcNDArray *arrays, size_t count);

/*===-- DLPack ------------------------------------------------------------===*/

/* Waits as dlcNDArrayWait does and hands the elements out, without a copy; the
 * tensor keeps them until its deleter is called. One for DLC_USE_READ is marked
 * read-only. Elements of less than a byte are packed. Errors: those of
 * dlcNDArrayHostAccess. Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayToDLPack(DlcNDArray array, DlcVariableUse use,
                                     struct DLManagedTensorVersioned **tensor);
/* The form of before version 1, which has no mark. Errors: DLC_UNSUPPORTED
 * (read-only memory). Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayToOldDLPack(DlcNDArray array, DlcVariableUse use,
                                        struct DLManagedTensor **tensor);

/* An array over the elements of `tensor`, whose deleter is called by any thread
 * when the last operation is over. On failure the tensor stays the caller's.
 * Errors: DLC_UNSUPPORTED (memory of a device, element types, elements of less
 * than a byte that are padded to one, strides other than row-major without
 * gaps: also those of columns, and 0; another version), DLC_INVALID_ARGUMENT (a
 * broken shape, elements that are not aligned for their type).
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayFromDLPack(DlcArrayRuntime runtime,
                                       struct DLManagedTensorVersioned *tensor,
                                       DlcNDArray *array);
/* Since 0.1 (unstable) */
DLC_API DlcStatus dlcNDArrayFromOldDLPack(DlcArrayRuntime runtime,
                                          struct DLManagedTensor *tensor,
                                          DlcNDArray *array);

#endif /* DLC_C_NDARRAY_H */
