// SPDX-License-Identifier: Apache-2.0
//
// Files of a model: the model itself and the tensors it keeps beside it. A
// model may come from anyone, so a location inside it never reaches a file
// outside the model's folder: no absolute path, no "..", no symbolic link, no
// second hard link, nothing but regular files.

#ifndef DLC_FRONTEND_ONNX_EXTERNALDATA_H
#define DLC_FRONTEND_ONNX_EXTERNALDATA_H

#include "dlc/Frontend/ONNX/Reader.h"

#include <map>

namespace dlc::onnx {

/// A file mapped read-only. Immutable, safe to share between threads. The
/// bytes are those of the file: who truncates it while it is mapped makes
/// reads fault, as with any mapping.
class MappedFile {
public:
  /// Maps the regular file at `path`, which the user chose. Errors do not name
  /// it.
  static rt::Result<std::shared_ptr<MappedFile>> open(const std::string &path);
  /// Maps the regular file behind `descriptor` and closes the descriptor.
  /// Errors name `nameForMessages`, unless it is empty.
  static rt::Result<std::shared_ptr<MappedFile>>
  adopt(int descriptor, const std::string &nameForMessages);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  std::string_view bytes() const { return {data, size}; }

  /// What tells a file from all others, whatever its name: device and inode.
  using Identity = std::pair<uint64_t, uint64_t>;
  Identity identity() const { return id; }

private:
  MappedFile(const char *data, size_t size, Identity id)
      : data(data), size(size), id(id) {}
  const char *data;
  size_t size;
  Identity id;
};

/// How ModelFolder opens files; the second way exists for kernels before 5.6
/// and sandboxes that refuse openat2, and is chosen by itself there.
enum class OpenMethod { Automatic, ComponentWise };

/// The folder that a model's external data must lie in. Not thread-safe.
class ModelFolder {
public:
  explicit ModelFolder(std::string path,
                       OpenMethod method = OpenMethod::Automatic)
      : path(std::move(path)), method(method) {}
  ~ModelFolder();
  ModelFolder(const ModelFolder &) = delete;
  ModelFolder &operator=(const ModelFolder &) = delete;

  /// Refuses `file`, the model itself, as external data from now on.
  void exclude(const MappedFile &file) { excluded = file.identity(); }

  /// Finds the elements of an external tensor: a view of the mapped file when
  /// aligned, else a copy.
  rt::Result<TensorContents> load(const Tensor &tensor);

private:
  rt::Result<std::shared_ptr<MappedFile>> map(std::string_view location);
  rt::Result<int> openBeneath(const std::string &location);

  std::string path;
  OpenMethod method;
  int folder = -1; ///< Opened by the first use.
  std::optional<MappedFile::Identity> excluded;
  std::map<std::string, std::shared_ptr<MappedFile>, std::less<>> files;
};

} // namespace dlc::onnx

#endif // DLC_FRONTEND_ONNX_EXTERNALDATA_H
