//===- Folder.h - The folder of the cache -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All access goes through one descriptor of a folder that was checked once, so
// that nobody can exchange the folder between the check and the use.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CACHE_FOLDER_H
#define TENON_RUNTIME_CACHE_FOLDER_H

#include "tenon/Runtime/Result.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::runtime::cache {

/// A file descriptor with an owner; -1 when there is none.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(Descriptor &&other) : fd(std::exchange(other.fd, -1)) {}
  Descriptor &operator=(Descriptor &&other) {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() { close(); }

  explicit operator bool() const { return fd >= 0; }
  int get() const { return fd; }
  void close();
  /// The descriptor, whose owner is the caller from now on.
  int release() { return std::exchange(fd, -1); }

private:
  int fd = -1;
};

/// The text of an errno.
std::string errorText(int code);

class Folder {
public:
  /// Opens or makes \p path as Cache::open() says.
  static Result<Folder> open(const std::string &path);

  const std::string &path() const { return folderPath; }

  /// Why there is no folder, although none was refused; empty when there is.
  const std::string &problem() const { return why; }

  /// Opens a file of the folder, never through a symbolic link; errno says why
  /// there is none.
  Descriptor openFile(const std::string &name, int flags) const;

  /// The names of the files that end with \p suffix.
  std::vector<std::string> names(std::string_view suffix) const;

  bool remove(const std::string &name) const;

  /// Whether \p name is at the moment a name of the open file \p file.
  bool isNameOf(const std::string &name, const Descriptor &file) const;

  /// Writes \p content to a file beside and renames it to \p name, with all on
  /// the disk before it is seen. \p temporaryName ends the name of the file
  /// beside. The error is that of the first step that failed; nothing is left.
  Status replace(const std::string &name, std::string_view content,
                 const std::function<std::string()> &temporaryName) const;

  /// Removes the files beside that no process is writing.
  void sweepTemporaries() const;

private:
  Status fill(const Descriptor &file, const std::string &temporary,
              const std::string &name, std::string_view content) const;

  Descriptor directory;
  std::string folderPath;
  std::string why;
};

} // namespace tenon::runtime::cache

#endif // TENON_RUNTIME_CACHE_FOLDER_H
