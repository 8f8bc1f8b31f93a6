//===- Cache.cpp - Compiled kernels on disk ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Cache.h"

#include "Entry.h"
#include "Folder.h"
#include "KeyLock.h"

#include "tenon/Runtime/Sha256.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::runtime {

using cache::Descriptor;
using cache::Folder;
using cache::KeyLock;

static constexpr std::string_view entrySuffix = ".entry";

std::string CacheKey::digest() const {
  // With lengths, since no separator is foreign to all texts.
  std::string text = "tenon-cache-key 1\n";
  for (const std::string *part : {&spec, &schedule, &compiler, &target}) {
    text += std::to_string(part->size()) + "\n" + *part + "\n";
  }
  return hex(sha256(text));
}

/// Whether two keys stand for the same value.
static bool sameValue(const CacheKey &lhs, const CacheKey &rhs) {
  return lhs.spec == rhs.spec && lhs.schedule == rhs.schedule &&
         lhs.compiler == rhs.compiler && lhs.target == rhs.target;
}

/// A variable of the environment; empty when it is not set.
static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The home folder of the user; empty when there is none.
static std::string homeFolder() {
  if (std::string home = environment("HOME"); !home.empty()) {
    return home;
  }
  std::string buffer(16384, '\0');
  passwd record;
  passwd *found = nullptr;
  if (::getpwuid_r(::geteuid(), &record, buffer.data(), buffer.size(),
                   &found) != 0 ||
      !found || !record.pw_dir) {
    return "";
  }
  return record.pw_dir;
}

Result<std::string> defaultCacheFolder() {
  if (std::string folder = environment("TENON_CACHE_DIR"); !folder.empty()) {
    return folder;
  }
  // The XDG base directory specification has relative paths ignored.
  if (std::string folder = environment("XDG_CACHE_HOME");
      folder.starts_with('/')) {
    return folder + "/tenon";
  }
  if (std::string home = homeFolder(); !home.empty()) {
    return home + "/.cache/tenon";
  }
  return Error{"there is no cache folder: none of TENON_CACHE_DIR, "
               "XDG_CACHE_HOME and HOME is set"};
}

static Result<uint64_t> defaultMaxBytes() {
  std::string text = environment("TENON_CACHE_MAX_BYTES");
  if (text.empty()) {
    return uint64_t(4) << 30;
  }
  uint64_t bytes = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (code != std::errc() || end != text.data() + text.size()) {
    return Error{"TENON_CACHE_MAX_BYTES: expected a number of bytes, found '" +
                 text + "'"};
  }
  return bytes;
}

/// 128 random bits, and a number in case that there are none.
static std::string randomName() {
  static std::atomic<unsigned> count = 0;
  Sha256 bits = {};
  (void)::getentropy(bits.data(), bits.size() / 2);
  return hex(bits).substr(0, bits.size()) + "-" + std::to_string(count++);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

namespace {
/// What a file of the folder is.
struct FileInfo {
  std::string digest;
  uint64_t bytes = 0;
  timespec lastUsed = {};
};

/// What became of the attempt to remove an entry.
struct Removal {
  enum { Done, InUse, Failed } outcome = Done;
  std::string problem; ///< when it failed
};
} // namespace

struct Cache::State {
  Folder folder;
  CacheOptions options;
  std::atomic<bool> hasWarned = false;
  std::atomic<uint64_t> hits = 0, misses = 0, builds = 0, badFiles = 0,
                        evictions = 0, lockTimeouts = 0, storeFailures = 0;

  /// The result of reading the file of a digest.
  struct Content {
    std::string bytes;
    std::string fault; ///< why it is no entry; empty when it may be one
  };

  Descriptor openEntry(const std::string &digest) const {
    return folder.openFile(digest + std::string(entrySuffix), O_RDONLY);
  }

  void cannotKeep(const std::string &reason) {
    if (!hasWarned.exchange(true)) {
      options.warn("the cache folder " + folder.path() +
                   " keeps no new kernels (" + reason +
                   "); each process compiles them for itself");
    }
  }

  Content read(const Descriptor &file) const;
  std::vector<FileInfo> files() const;
  void removeBad(const std::string &digest, const Descriptor &file,
                 const std::string &fault);
  std::optional<std::string> find(const CacheKey &key,
                                  const std::string &digest);
  void store(const CacheKey &key, const std::string &digest,
             std::string_view value);
  void enforceLimit();
  Removal removeUnused(const std::string &digest);
};

/// Why an open file cannot be an entry by what the system knows of it; empty
/// when it can.
static std::string objection(const struct stat &info) {
  if (!S_ISREG(info.st_mode)) {
    return "it is no regular file";
  }
  if (info.st_uid != ::geteuid()) {
    return "user " + std::to_string(info.st_uid) + " owns it";
  }
  if (info.st_mode & (S_IWGRP | S_IWOTH)) {
    return "others can write to it";
  }
  return "";
}

/// Reads \p size bytes from the start of \p file, fewer where it ends.
static std::string readBytes(const Descriptor &file, size_t size) {
  std::string bytes(size, '\0');
  size_t got = 0;
  while (got < size) {
    ssize_t count = ::pread(file.get(), bytes.data() + got, size - got, got);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      break;
    }
    got += count;
  }
  bytes.resize(got);
  return bytes;
}

Cache::State::Content Cache::State::read(const Descriptor &file) const {
  Content result;
  struct stat info;
  if (::fstat(file.get(), &info) != 0) {
    result.fault = cache::errorText(errno);
    return result;
  }
  result.fault = objection(info);
  if (!result.fault.empty()) {
    return result;
  }
  // Before memory is taken for a size that the file only claims.
  Result<cache::EntrySizes> sizes =
      cache::decodeSizes(readBytes(file, cache::fixedBytes));
  if (!sizes) {
    result.fault = sizes.error().message;
  } else if (sizes->fileBytes() != static_cast<uint64_t>(info.st_size)) {
    result.fault = "it has " + std::to_string(info.st_size) +
                   " bytes, expected " + std::to_string(sizes->fileBytes());
  } else {
    result.bytes = readBytes(file, info.st_size);
  }
  return result;
}

std::vector<FileInfo> Cache::State::files() const {
  std::vector<FileInfo> found;
  for (const std::string &name : folder.names(entrySuffix)) {
    Descriptor file = folder.openFile(name, O_RDONLY);
    struct stat info;
    if (!file || ::fstat(file.get(), &info) != 0) {
      continue;
    }
    found.push_back({name.substr(0, name.size() - entrySuffix.size()),
                     static_cast<uint64_t>(info.st_size), info.st_mtim});
  }
  return found;
}

void Cache::State::removeBad(const std::string &digest, const Descriptor &file,
                             const std::string &fault) {
  ++badFiles;
  std::string name = digest + std::string(entrySuffix);
  // A good file may have taken its place by now.
  bool removed = folder.isNameOf(name, file) && folder.remove(name);
  options.warn(folder.path() + "/" + name + " is damaged (" + fault + ")" +
               (removed ? " and was removed" : ""));
}

std::optional<std::string> Cache::State::find(const CacheKey &key,
                                              const std::string &digest) {
  Descriptor file = openEntry(digest);
  if (!file) {
    return std::nullopt;
  }
  // Keeps it from being evicted. An evictor that has it already makes this
  // reader the last one; both are fine.
  ::flock(file.get(), LOCK_SH | LOCK_NB);
  Content content = read(file);
  if (!content.fault.empty()) {
    removeBad(digest, file, content.fault);
    return std::nullopt;
  }
  Result<cache::DecodedEntry> entry = cache::decode(content.bytes);
  if (!entry) {
    removeBad(digest, file, entry.error().message);
    return std::nullopt;
  }
  if (!sameValue(entry->key, key)) {
    removeBad(digest, file, "it belongs to another key");
    return std::nullopt;
  }
  // Fails where the folder is read-only; then nothing is evicted either.
  ::futimens(file.get(), nullptr);
  return std::string(entry->value);
}

void Cache::State::store(const CacheKey &key, const std::string &digest,
                         std::string_view value) {
  Result<std::string> file = cache::encode(key, value);
  Status stored;
  if (!file) {
    stored = file.error();
  } else if (file->size() > *options.maxBytes) {
    stored = Error{"a kernel of " + std::to_string(file->size()) +
                   " bytes is above the limit of " +
                   std::to_string(*options.maxBytes)};
  } else if (!folder.problem().empty()) {
    stored = Error{folder.problem()};
  } else {
    stored = folder.replace(digest + std::string(entrySuffix), *file,
                            options.temporaryName);
  }
  if (!stored) {
    ++storeFailures;
    cannotKeep(stored.error().message);
    return;
  }
  enforceLimit();
}

Removal Cache::State::removeUnused(const std::string &digest) {
  KeyLock lock(folder, digest, std::chrono::milliseconds(0));
  if (lock.outcome() == KeyLock::Outcome::Unavailable) {
    return {Removal::Failed, lock.problem()};
  }
  if (lock.outcome() == KeyLock::Outcome::TimedOut) {
    return {Removal::InUse, ""};
  }
  Descriptor file = openEntry(digest);
  if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return {Removal::InUse, ""};
  }
  if (!folder.remove(digest + std::string(entrySuffix)) && errno != ENOENT) {
    return {Removal::Failed, cache::errorText(errno)};
  }
  return {};
}

void Cache::State::enforceLimit() {
  folder.sweepTemporaries();
  KeyLock::sweep(folder);
  std::vector<FileInfo> all = files();
  uint64_t bytes = 0;
  for (const FileInfo &file : all) {
    bytes += file.bytes;
  }
  if (bytes <= *options.maxBytes) {
    return;
  }
  std::sort(all.begin(), all.end(),
            [](const FileInfo &lhs, const FileInfo &rhs) {
              return std::pair(lhs.lastUsed.tv_sec, lhs.lastUsed.tv_nsec) <
                     std::pair(rhs.lastUsed.tv_sec, rhs.lastUsed.tv_nsec);
            });
  for (const FileInfo &file : all) {
    if (bytes <= *options.maxBytes) {
      break;
    }
    if (removeUnused(file.digest).outcome == Removal::Done) {
      ++evictions;
      bytes -= file.bytes;
    }
  }
}

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

Cache::Cache(std::unique_ptr<State> state) : state(std::move(state)) {}
Cache::Cache(Cache &&) = default;
Cache &Cache::operator=(Cache &&) = default;
Cache::~Cache() = default;

const std::string &Cache::folder() const { return state->folder.path(); }

Result<Cache> Cache::open(CacheOptions options) {
  if (options.folder.empty()) {
    Result<std::string> folder = defaultCacheFolder();
    if (!folder) {
      return folder.error();
    }
    options.folder = std::move(*folder);
  }
  if (!options.maxBytes) {
    Result<uint64_t> bytes = defaultMaxBytes();
    if (!bytes) {
      return bytes.error();
    }
    options.maxBytes = *bytes;
  }
  if (!options.warn) {
    options.warn = [](const std::string &message) {
      std::fprintf(stderr, "tenon: warning: %s\n", message.c_str());
    };
  }
  if (!options.temporaryName) {
    options.temporaryName = randomName;
  }
  Result<Folder> folder = Folder::open(options.folder);
  if (!folder) {
    return folder.error();
  }
  auto state = std::make_unique<State>();
  state->folder = std::move(*folder);
  state->options = std::move(options);
  return Cache(std::move(state));
}

std::optional<std::string> Cache::lookup(const CacheKey &key) {
  std::optional<std::string> value = state->find(key, key.digest());
  ++(value ? state->hits : state->misses);
  return value;
}

Result<Cache::Value> Cache::getOrBuild(const CacheKey &key,
                                       const Build &build) {
  const std::string digest = key.digest();
  auto hit = [&]() -> std::optional<Value> {
    if (std::optional<std::string> value = state->find(key, digest)) {
      ++state->hits;
      return Value{std::move(*value), false};
    }
    return std::nullopt;
  };
  if (std::optional<Value> value = hit()) {
    return std::move(*value);
  }
  std::optional<KeyLock> lock;
  if (state->folder.problem().empty()) {
    lock.emplace(state->folder, digest, state->options.lockWait);
    if (lock->outcome() == KeyLock::Outcome::TimedOut) {
      ++state->lockTimeouts;
    }
    // Whoever held the lock may have built it, and one that is slow as well.
    if (lock->outcome() != KeyLock::Outcome::Unavailable) {
      if (std::optional<Value> value = hit()) {
        return std::move(*value);
      }
    }
  }
  ++state->misses;
  ++state->builds;
  Result<std::string> built = build();
  if (!built) {
    return built.error();
  }
  state->store(key, digest, *built);
  return Value{std::move(*built), true};
}

std::vector<CacheEntry> Cache::list() {
  std::vector<CacheEntry> entries;
  for (const FileInfo &info : state->files()) {
    Descriptor file = state->openEntry(info.digest);
    if (!file) {
      continue;
    }
    Result<cache::EntrySizes> sizes =
        cache::decodeSizes(readBytes(file, cache::fixedBytes));
    if (!sizes || sizes->fileBytes() != info.bytes) {
      continue;
    }
    std::string header =
        readBytes(file, cache::fixedBytes + size_t(sizes->keyBytes));
    Result<CacheKey> key =
        cache::decodeKey(std::string_view(header).substr(cache::fixedBytes));
    if (!key) {
      continue;
    }
    using namespace std::chrono;
    entries.push_back(
        {info.digest, std::move(*key), info.bytes,
         system_clock::time_point(duration_cast<system_clock::duration>(
             seconds(info.lastUsed.tv_sec) +
             nanoseconds(info.lastUsed.tv_nsec)))});
  }
  std::sort(entries.begin(), entries.end(),
            [](const CacheEntry &lhs, const CacheEntry &rhs) {
              return lhs.lastUsed > rhs.lastUsed;
            });
  return entries;
}

CacheVerification Cache::verify() {
  CacheVerification result;
  for (const std::string &name : state->folder.names(entrySuffix)) {
    std::string digest = name.substr(0, name.size() - entrySuffix.size());
    std::string fault;
    Descriptor file = state->openEntry(digest);
    if (!file && errno == ENOENT) {
      continue; // evicted meanwhile
    }
    if (!file) {
      // A symbolic link, or a file that cannot be read.
      fault = cache::errorText(errno);
    } else {
      ::flock(file.get(), LOCK_SH | LOCK_NB);
      State::Content content = state->read(file);
      fault = content.fault;
      if (fault.empty()) {
        Result<cache::DecodedEntry> entry = cache::decode(content.bytes);
        fault = !entry                          ? entry.error().message
                : entry->key.digest() != digest ? "it belongs to another key"
                                                : "";
      }
    }
    if (fault.empty()) {
      ++result.intact;
      continue;
    }
    ++state->badFiles;
    bool removed =
        file ? state->folder.isNameOf(name, file) && state->folder.remove(name)
             : state->folder.remove(name);
    result.bad.push_back(name + ": " + fault +
                         (removed ? "" : "; it could not be removed"));
  }
  return result;
}

CacheClearing Cache::clear() {
  CacheClearing result;
  for (const FileInfo &file : state->files()) {
    Removal removal = state->removeUnused(file.digest);
    if (removal.outcome == Removal::Done) {
      ++result.removed;
      result.bytes += file.bytes;
    } else if (removal.outcome == Removal::InUse) {
      ++result.inUse;
    } else {
      ++result.failed;
      result.problem = removal.problem;
    }
  }
  state->folder.sweepTemporaries();
  KeyLock::sweep(state->folder);
  return result;
}

CacheStatistics Cache::statistics() const {
  CacheStatistics result;
  result.hits = state->hits;
  result.misses = state->misses;
  result.builds = state->builds;
  result.badFiles = state->badFiles;
  result.evictions = state->evictions;
  result.lockTimeouts = state->lockTimeouts;
  result.storeFailures = state->storeFailures;
  return result;
}

} // namespace tenon::runtime
