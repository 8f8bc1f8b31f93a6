//===- KeyLock.h - One builder per key --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lock is a file under flock: the kernel frees it when its holder dies, by
// whatever signal and in whatever container. The holder removes the file before
// it lets go; who then gets a lock on the removed file sees that the name leads
// elsewhere, and starts again.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CACHE_KEYLOCK_H
#define TENON_RUNTIME_CACHE_KEYLOCK_H

#include "Folder.h"

#include <chrono>

namespace tenon::runtime::cache {

class KeyLock {
public:
  enum class Outcome {
    Held,
    TimedOut,    ///< another holds it
    Unavailable, ///< the folder or the file system has no locks
  };

  /// Takes the lock of \p digest, after at most \p wait.
  KeyLock(const Folder &folder, const std::string &digest,
          std::chrono::milliseconds wait);
  ~KeyLock();
  KeyLock(const KeyLock &) = delete;
  KeyLock &operator=(const KeyLock &) = delete;

  Outcome outcome() const { return result; }
  /// Of an unavailable lock.
  const std::string &problem() const { return why; }

  /// Removes the files of locks that nobody holds.
  static void sweep(const Folder &folder);

private:
  const Folder &folder;
  std::string name;
  Descriptor file;
  Outcome result;
  std::string why;
};

} // namespace tenon::runtime::cache

#endif // TENON_RUNTIME_CACHE_KEYLOCK_H
