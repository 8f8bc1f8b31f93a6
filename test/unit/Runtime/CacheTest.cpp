//===- CacheTest.cpp - The cache within one process -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CacheFolder.h"

#include <set>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon::runtime;

namespace {
using CacheTest = CacheFolder;
}

static Cache::Build returning(const std::string &value, int *count = nullptr) {
  return [=]() -> Result<std::string> {
    if (count) {
      ++*count;
    }
    return value;
  };
}

// A value is built once and found after that, with all its bytes, also by
// another cache on the folder.
TEST_F(CacheTest, KeepsWhatWasBuilt) {
  Cache cache = open(options());
  EXPECT_FALSE(cache.lookup(key(1)));
  const std::string value("\0code\xff\n", 7);
  int builds = 0;
  auto first = cache.getOrBuild(key(1), returning(value, &builds));
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->built);
  EXPECT_EQ(first->bytes, value);
  auto second = cache.getOrBuild(key(1), returning("other", &builds));
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->built);
  EXPECT_EQ(second->bytes, value);
  EXPECT_EQ(open(options()).lookup(key(1)), value);
  EXPECT_EQ(builds, 1);
  CacheStatistics counts = cache.statistics();
  EXPECT_EQ(counts.hits, 1u);
  EXPECT_EQ(counts.misses, 2u);
  EXPECT_EQ(counts.builds, 1u);
  EXPECT_EQ(counts.storeFailures, 0u);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(files().size(), 1u) << "no lock and no temporary file is left";
}

// Each part of a key makes another value, and so does moving text between
// parts; the title does not.
TEST_F(CacheTest, KeysDifferInEveryPart) {
  CacheKey base = {"a", "b", "c", "d", "title"};
  std::set<std::string> digests = {base.digest()};
  for (std::string CacheKey::*part : {&CacheKey::spec, &CacheKey::schedule,
                                      &CacheKey::compiler, &CacheKey::target}) {
    CacheKey other = base;
    other.*part += "x";
    digests.insert(other.digest());
  }
  digests.insert(CacheKey{"ab", "", "c", "d", "title"}.digest());
  digests.insert(CacheKey{"", "ab", "c", "d", "title"}.digest());
  digests.insert(CacheKey{"a\n1\nb", "", "c", "d", "title"}.digest());
  EXPECT_EQ(digests.size(), 8u);
  CacheKey renamed = base;
  renamed.title = "other";
  EXPECT_EQ(renamed.digest(), base.digest());
}

// The error of a build is passed on, and nothing is kept.
TEST_F(CacheTest, FailedBuildsAreNotKept) {
  Cache cache = open(options());
  auto failed = cache.getOrBuild(
      key(1), []() -> Result<std::string> { return Error{"no schedule"}; });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no schedule");
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(cache.getOrBuild(key(1), returning("value")));
}

// Folder and files are for their owner alone, and missing parents are made.
TEST_F(CacheTest, FilesArePrivate) {
  CacheOptions deep = options();
  deep.folder = root + "/not/there/yet/cache/";
  Cache cache = open(deep);
  ASSERT_TRUE(cache.getOrBuild(key(1), returning("value")));
  auto mode = [](const std::string &name) {
    struct stat info = {};
    EXPECT_EQ(::stat(name.c_str(), &info), 0) << name;
    return info.st_mode & 07777;
  };
  EXPECT_EQ(mode(cache.folder()), 0700u);
  EXPECT_EQ(mode(cache.folder() + "/" + key(1).digest() + ".entry"), 0600u);
  EXPECT_EQ(mode(root + "/not"), 0700u);
}

// A folder that others could plant files in is refused, with the reason.
TEST_F(CacheTest, RefusesFoldersOfOthers) {
  auto refusal = [&](const std::string &folder) {
    CacheOptions given = options();
    given.folder = folder;
    Result<Cache> cache = Cache::open(given);
    return cache ? "accepted" : cache.error().message;
  };
  std::filesystem::create_directory(path());
  for (mode_t mode : {0770, 0702, 0777, 01777}) {
    ASSERT_EQ(::chmod(path().c_str(), mode), 0);
    EXPECT_NE(refusal(path()).find("others can write"), std::string::npos)
        << std::oct << mode;
  }
  ASSERT_EQ(::chmod(path().c_str(), 0755), 0);
  EXPECT_EQ(refusal(path()), "accepted");

  std::filesystem::create_symlink(path(), root + "/link");
  for (const char *name : {"/link", "/link/", "/link//", "/link/."}) {
    EXPECT_NE(refusal(root + name).find("symbolic link"), std::string::npos)
        << name;
  }
  writeFile(root + "/file", "");
  EXPECT_NE(refusal(root + "/file").find("no folder"), std::string::npos);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path().c_str(), 65534, 65534), 0);
    EXPECT_NE(refusal(path()).find("user 65534 owns it"), std::string::npos);
  }
}

// A file that is damaged in any byte or cut anywhere is no hit; it is removed
// with a warning, and the value is built again.
TEST_F(CacheTest, DamagedFilesAreMisses) {
  CacheKey one = key(1);
  ASSERT_TRUE(open(options()).getOrBuild(one, returning("the value")));
  const std::string intact = readFile(entryPath(one));
  std::vector<std::string> damaged = {"", intact + "x"};
  for (size_t at = 0; at < intact.size(); ++at) {
    std::string changed = intact;
    changed[at] ^= 0x10;
    damaged.push_back(changed);
    damaged.push_back(intact.substr(0, at));
  }
  for (const std::string &content : damaged) {
    writeFile(entryPath(one), content);
    warnings.clear();
    Cache cache = open(options());
    EXPECT_FALSE(cache.lookup(one));
    EXPECT_EQ(cache.statistics().badFiles, 1u);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("is damaged"), std::string::npos);
    EXPECT_TRUE(files().empty());
    if (testing::Test::HasFailure()) {
      return;
    }
  }
  Cache cache = open(options());
  writeFile(entryPath(one), intact.substr(1));
  auto again = cache.getOrBuild(one, returning("the value"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->built);
  EXPECT_EQ(cache.lookup(one), "the value");
}

// What is not a file of this user alone is not read, whatever it holds.
TEST_F(CacheTest, StrangeFilesAreNotRead) {
  CacheKey one = key(1), two = key(2);
  Cache cache = open(options());
  ASSERT_TRUE(cache.getOrBuild(one, returning("value")));
  // Under the name of another key.
  std::filesystem::copy(entryPath(one), entryPath(two));
  EXPECT_FALSE(cache.lookup(two));
  // Behind a symbolic link.
  std::filesystem::rename(entryPath(one), root + "/elsewhere");
  std::filesystem::create_symlink(root + "/elsewhere", entryPath(one));
  EXPECT_FALSE(cache.lookup(one));
  ASSERT_TRUE(cache.getOrBuild(one, returning("new")));
  EXPECT_FALSE(std::filesystem::is_symlink(entryPath(one)));
  // Writable by others.
  ASSERT_EQ(::chmod(entryPath(one).c_str(), 0622), 0);
  EXPECT_FALSE(cache.lookup(one));
  // A pipe, which would block.
  ASSERT_EQ(::mkfifo(entryPath(one).c_str(), 0600), 0);
  EXPECT_FALSE(cache.lookup(one));
  // Of another user.
  if (::geteuid() == 0) {
    ASSERT_TRUE(cache.getOrBuild(one, returning("value")));
    ASSERT_EQ(::chown(entryPath(one).c_str(), 65534, 65534), 0);
    EXPECT_FALSE(cache.lookup(one));
  }
}

/// Sets when the file of an entry was used last, in seconds of the epoch.
static void setUsed(const std::string &name, time_t seconds) {
  timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, name.c_str(), times, 0), 0);
}

// Above the limit the entries that were used least recently go, and a hit is a
// use.
TEST_F(CacheTest, EvictsTheLeastRecentlyUsed) {
  Cache writer = open(options());
  const std::string value(1000, 'v');
  for (int number = 1; number <= 4; ++number) {
    ASSERT_TRUE(writer.getOrBuild(key(number), returning(value)));
    setUsed(entryPath(key(number)), 1000 + number);
  }
  ASSERT_TRUE(writer.lookup(key(1)));
  const uint64_t fileBytes = readFile(entryPath(key(1))).size();
  CacheOptions limited = options();
  limited.maxBytes = 3 * fileBytes;
  Cache cache = open(limited);
  ASSERT_TRUE(cache.getOrBuild(key(5), returning(value)));
  EXPECT_EQ(cache.statistics().evictions, 2u);
  EXPECT_TRUE(cache.lookup(key(1)));
  EXPECT_FALSE(cache.lookup(key(2)));
  EXPECT_FALSE(cache.lookup(key(3)));
  EXPECT_TRUE(cache.lookup(key(4)));
  EXPECT_TRUE(cache.lookup(key(5)));

  // What alone exceeds the limit is built and not kept.
  auto large =
      cache.getOrBuild(key(6), returning(std::string(4 * fileBytes, 'x')));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->bytes.size(), 4 * fileBytes);
  EXPECT_EQ(files(".entry").size(), 3u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("above the limit"), std::string::npos);
}

// Neither the size limit nor clear() takes an entry whose file or key is
// locked.
TEST_F(CacheTest, EntriesInUseStay) {
  CacheOptions limited = options();
  limited.maxBytes = 1;
  {
    Cache cache = open(options());
    for (int number = 1; number <= 3; ++number) {
      ASSERT_TRUE(cache.getOrBuild(key(number), returning("value")));
    }
  }
  int reader = ::open(entryPath(key(1)).c_str(), O_RDONLY);
  ASSERT_EQ(::flock(reader, LOCK_SH), 0);
  std::string lockName = path() + "/" + key(2).digest() + ".lock";
  int builder = ::open(lockName.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(builder, LOCK_EX), 0);
  // A build under a limit that nothing meets; its own key is in use as well.
  limited.maxBytes = readFile(entryPath(key(3))).size();
  Cache cache = open(limited);
  ASSERT_TRUE(cache.getOrBuild(key(4), returning("value")));
  EXPECT_TRUE(std::filesystem::exists(entryPath(key(1))));
  EXPECT_TRUE(std::filesystem::exists(entryPath(key(2))));
  EXPECT_FALSE(std::filesystem::exists(entryPath(key(3))));
  EXPECT_TRUE(std::filesystem::exists(lockName));
  CacheClearing cleared = cache.clear();
  EXPECT_EQ(cleared.removed, 1u);
  EXPECT_EQ(cleared.inUse, 2u);
  ::close(reader);
  ::close(builder);
  cleared = cache.clear();
  EXPECT_EQ(cleared.removed, 2u);
  EXPECT_EQ(cleared.inUse, 0u);
  EXPECT_TRUE(files().empty()) << files()[0];
}

// list() tells entries by their headers; verify() finds and removes those whose
// content is damaged.
TEST_F(CacheTest, ListsAndVerifies) {
  Cache cache = open(options());
  for (int number = 1; number <= 3; ++number) {
    ASSERT_TRUE(cache.getOrBuild(key(number), returning("value")));
    setUsed(entryPath(key(number)), 1000 + number);
  }
  std::vector<CacheEntry> entries = cache.list();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].digest, key(3).digest());
  EXPECT_EQ(entries[0].key.spec, "spec 3");
  EXPECT_EQ(entries[0].key.title, "sample");
  EXPECT_EQ(entries[0].key.target, "gfx950");
  EXPECT_EQ(entries[0].bytes, readFile(entryPath(key(3))).size());
  EXPECT_EQ(std::chrono::system_clock::to_time_t(entries[0].lastUsed), 1003);

  std::string content = readFile(entryPath(key(2)));
  content.back() ^= 1;
  writeFile(entryPath(key(2)), content);
  CacheVerification verified = cache.verify();
  EXPECT_EQ(verified.intact, 2u);
  ASSERT_EQ(verified.bad.size(), 1u);
  EXPECT_NE(verified.bad[0].find(key(2).digest()), std::string::npos);
  EXPECT_NE(verified.bad[0].find("checksum"), std::string::npos);
  EXPECT_EQ(cache.verify().bad.size(), 0u);
  EXPECT_EQ(cache.list().size(), 2u);
}

namespace {
/// Sets a variable of the environment and restores it.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    if (const char *given = std::getenv(name)) {
      before = given;
    }
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() {
    before ? ::setenv(name, before->c_str(), 1) : ::unsetenv(name);
  }

private:
  const char *name;
  std::optional<std::string> before;
};
} // namespace

// The environment names the folder and the limit.
TEST_F(CacheTest, TheEnvironmentNamesTheFolder) {
  Variable home("HOME", "/somewhere"), xdg("XDG_CACHE_HOME", "relative"),
      own("TENON_CACHE_DIR", "");
  EXPECT_EQ(*defaultCacheFolder(), "/somewhere/.cache/tenon");
  {
    Variable absolute("XDG_CACHE_HOME", "/caches");
    EXPECT_EQ(*defaultCacheFolder(), "/caches/tenon");
    Variable given("TENON_CACHE_DIR", path().c_str());
    EXPECT_EQ(*defaultCacheFolder(), path());
    EXPECT_EQ(open({}).folder(), path());
    Variable bad("TENON_CACHE_MAX_BYTES", "4G");
    Result<Cache> cache = Cache::open();
    ASSERT_FALSE(cache);
    EXPECT_NE(cache.error().message.find("found '4G'"), std::string::npos);
  }
}
