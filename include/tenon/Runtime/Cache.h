//===- Cache.h - Compiled kernels on disk -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of values, each under the digest of all that it was made from. Any
// number of processes and threads use one folder at a time, also from several
// containers: what excludes them is flock, what they write appears whole or not
// at all, and no name depends on a host or a process.
//
// The cache helps or stands aside. A folder that cannot be written, a full disk
// and a lock that does not become free cost a build and a warning, never the
// result. Only a folder that somebody else could plant files in is an error.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CACHE_H
#define TENON_RUNTIME_CACHE_H

#include "tenon/Runtime/Result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// What a value is made from. Every part but the title goes into the digest.
struct CacheKey {
  std::string spec;     ///< the op in canonical text, with its static sizes
  std::string schedule; ///< empty: the ranked schedules
  std::string compiler; ///< identifies the build of the compiler
  std::string target;   ///< the chip
  std::string title;    ///< for people: the name of the op

  /// The SHA-256 of the parts, each with its length, in hexadecimal.
  std::string digest() const;
};

/// The folder that the environment asks for: TENON_CACHE_DIR, else `tenon` in
/// XDG_CACHE_HOME, else in `.cache` of the home folder. An error where none of
/// them is set and the user has no home.
Result<std::string> defaultCacheFolder();

struct CacheOptions {
  /// Empty: defaultCacheFolder().
  std::string folder;
  /// What all entries may take; the least recently used go first. By default
  /// the number in TENON_CACHE_MAX_BYTES, else 4 GiB.
  std::optional<uint64_t> maxBytes;
  /// How long to wait for another process that builds the same key.
  std::chrono::milliseconds lockWait = std::chrono::seconds(60);
  /// Receives warnings, by default on standard error: one in the life of the
  /// cache when values cannot be kept, and one for every damaged file.
  std::function<void(const std::string &)> warn;
  /// The ends of the names of temporary files; by default 128 random bits. A
  /// name that is taken is passed over, so equal sequences do no harm.
  std::function<std::string()> temporaryName;
};

/// One file of the cache, as its header has it.
struct CacheEntry {
  std::string digest;
  CacheKey key;
  uint64_t bytes = 0; ///< of the file
  std::chrono::system_clock::time_point lastUsed;
};

/// What became of a call or of a check of the whole folder.
struct CacheStatistics {
  uint64_t hits = 0;
  uint64_t misses = 0;        ///< lookups that found nothing usable
  uint64_t builds = 0;        ///< calls of a build callback
  uint64_t badFiles = 0;      ///< files that were no intact entries
  uint64_t evictions = 0;     ///< entries removed for the size limit
  uint64_t lockTimeouts = 0;  ///< builds beside another, after waiting in vain
  uint64_t storeFailures = 0; ///< values that could not be kept
};

struct CacheVerification {
  uint64_t intact = 0;
  std::vector<std::string> bad; ///< file names and reasons; they were removed
};

struct CacheClearing {
  uint64_t removed = 0;
  uint64_t bytes = 0;
  uint64_t inUse = 0;  ///< entries left alone because a process holds them
  uint64_t failed = 0; ///< entries that could not be removed
  std::string problem; ///< why, when some could not
};

class Cache {
public:
  /// Opens the folder and makes it when it is missing. A folder that cannot be
  /// made or written is no error: the cache is then empty or read-only. Errors:
  /// no folder is named, it is a symbolic link or no folder, another user owns
  /// it, others can write to it, or TENON_CACHE_MAX_BYTES is no number.
  static Result<Cache> open(CacheOptions options = {});

  Cache(Cache &&);
  Cache &operator=(Cache &&);
  ~Cache();

  const std::string &folder() const;

  /// The value of \p key, checked against its digest. A file that is damaged
  /// or belongs to another key is removed, and the answer is "none", as it is
  /// when there is no file.
  std::optional<std::string> lookup(const CacheKey &key);

  struct Value {
    std::string bytes;
    bool built = false; ///< by this call, rather than found
  };
  using Build = std::function<Result<std::string>()>;

  /// The value of \p key; when there is none, what \p build returns, which is
  /// kept. Of all processes and threads that ask for a key at the same time one
  /// builds and the others wait, at most CacheOptions::lockWait, before they
  /// build for themselves. The only errors are those of \p build, which must
  /// not throw. A process that \p build forks without exec holds the lock until
  /// it ends. Safe to call from several threads.
  Result<Value> getOrBuild(const CacheKey &key, const Build &build);

  /// All entries with a readable header, most recently used first.
  std::vector<CacheEntry> list();

  /// Checks the content of every entry and removes those that are damaged.
  CacheVerification verify();

  /// Removes all entries that no process holds, and what killed processes left.
  CacheClearing clear();

  /// Counted since open().
  CacheStatistics statistics() const;

private:
  struct State;
  explicit Cache(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CACHE_H
