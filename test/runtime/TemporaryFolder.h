// SPDX-License-Identifier: Apache-2.0
//
// What tests of files share.

#ifndef DLC_TEST_RUNTIME_TEMPORARYFOLDER_H
#define DLC_TEST_RUNTIME_TEMPORARYFOLDER_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace dlc::rt::test {

/// An empty folder that goes away with this.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        std::filesystem::temp_directory_path() / "dlc-test-XXXXXX";
    if (!mkdtemp(name.data())) {
      std::perror(name.c_str());
      std::abort();
    }
    path = name;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  std::filesystem::path operator/(const std::filesystem::path &name) const {
    return path / name;
  }
  /// How many files are in it.
  size_t count() const {
    return std::distance(std::filesystem::directory_iterator(path), {});
  }

private:
  std::filesystem::path path;
};

/// The bytes of a file; none when it cannot be read.
inline std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_TEMPORARYFOLDER_H
