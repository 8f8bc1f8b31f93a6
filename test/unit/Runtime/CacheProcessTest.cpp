//===- CacheProcessTest.cpp - The cache among processes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CacheFolder.h"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <random>
#include <thread>

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon::runtime;
using namespace std::chrono_literals;

namespace {

using CacheProcess = CacheFolder;

constexpr int maxKeys = 128;

/// What the processes of a test tell each other.
struct Shared {
  std::array<std::atomic<int>, maxKeys> builds = {};
  std::atomic<int> waiting = 0;
  std::atomic<int> timeouts = 0;
  std::atomic<int> storeFailures = 0;

  /// Returns when \p count processes are here; false after 20 seconds.
  bool meet(int count) {
    ++waiting;
    for (int wait = 0; wait < 20000; ++wait) {
      if (waiting >= count) {
        return true;
      }
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }
};

/// A Shared that forked processes have in common.
class SharedMemory {
public:
  SharedMemory() {
    void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = new (memory) Shared;
  }
  ~SharedMemory() { ::munmap(shared, sizeof(Shared)); }
  Shared *operator->() { return shared; }
  Shared &operator*() { return *shared; }

private:
  Shared *shared;
};

/// Runs \p body in a process of its own, whose exit code says what it returns.
pid_t start(const std::function<bool()> &body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body() ? 0 : 1);
  }
  return child;
}

/// Whether \p child ended by itself and was content.
bool succeeded(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

/// Runs \p body in a process of its own. Returns what it returns: what went
/// wrong there, empty when nothing did.
std::string problemOf(const std::function<std::string()> &body) {
  int ends[2];
  if (::pipe(ends) != 0) {
    return "there is no pipe";
  }
  pid_t child = start([&] {
    std::string problem = body();
    return ::write(ends[1], problem.data(), problem.size()) ==
               static_cast<ssize_t>(problem.size()) &&
           problem.empty();
  });
  ::close(ends[1]);
  std::string problem;
  char buffer[512];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    problem.append(buffer, count);
  }
  ::close(ends[0]);
  if (!succeeded(child) && problem.empty()) {
    return "the process did not start, or ended early";
  }
  return problem;
}

std::string valueOf(int number, size_t bytes = 1000) {
  return std::string(bytes, static_cast<char>('a' + number % 26));
}

} // namespace

// Of eight processes that start cold on one key, one builds.
TEST_F(CacheProcess, EightProcessesBuildAKeyOnce) {
  SharedMemory shared;
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    children.push_back(start([&] {
      Cache cache = open(options());
      shared->meet(8);
      auto value = cache.getOrBuild(key(0), [&]() -> Result<std::string> {
        ++shared->builds[0];
        std::this_thread::sleep_for(100ms);
        return valueOf(0);
      });
      shared->timeouts += cache.statistics().lockTimeouts;
      return value && value->bytes == valueOf(0);
    }));
  }
  for (pid_t child : children) {
    EXPECT_TRUE(succeeded(child));
  }
  EXPECT_EQ(shared->builds[0], 1);
  EXPECT_EQ(shared->timeouts, 0);
  EXPECT_EQ(files().size(), 1u);
}

// Eight processes that want the same forty keys are building eight of them at
// one time, and build none twice.
TEST_F(CacheProcess, DifferentKeysAreBuiltAtTheSameTime) {
  SharedMemory shared;
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    children.push_back(start([&, process] {
      Cache cache = open(options());
      bool good = true;
      for (int step = 0; step < 40; ++step) {
        int number = (5 * process + step) % 40;
        auto value =
            cache.getOrBuild(key(number), [&]() -> Result<std::string> {
              ++shared->builds[number];
              // The first build of a process ends when all are in theirs.
              good &= step != 0 || shared->meet(8);
              return valueOf(number);
            });
        good &= value && value->bytes == valueOf(number);
      }
      return good;
    }));
  }
  for (pid_t child : children) {
    EXPECT_TRUE(succeeded(child));
  }
  for (int number = 0; number < 40; ++number) {
    EXPECT_EQ(shared->builds[number], 1) << number;
  }
  EXPECT_EQ(open(options()).verify().intact, 40u);
}

// A builder that is killed at any moment leaves no bad file, and the kernel
// frees its lock: the others go on before their wait is over.
TEST_F(CacheProcess, KilledBuildersCostNobody) {
  constexpr size_t bytes = 1 << 18;
  auto build = [](int number) -> Result<std::string> {
    std::this_thread::sleep_for(2ms);
    return valueOf(number, bytes);
  };
  auto run = [&](int number) {
    Cache cache = open(options());
    auto value = cache.getOrBuild(key(number), [&] { return build(number); });
    return value && value->bytes == valueOf(number, bytes) &&
           cache.statistics().lockTimeouts == 0 &&
           cache.statistics().badFiles == 0 &&
           cache.statistics().storeFailures == 0;
  };
  // How long one lives when it is left alone: the median of some.
  std::vector<std::chrono::nanoseconds> lives;
  for (int number = 100; number < 109; ++number) {
    auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(succeeded(start([&] { return run(number); })));
    lives.push_back(std::chrono::steady_clock::now() - begin);
  }
  std::nth_element(lives.begin(), lives.begin() + 4, lives.end());

  std::mt19937_64 random(7);
  int killedAlive = 0;
  for (int number = 0; number < 100; ++number) {
    pid_t victim = start([&] { return run(number); });
    pid_t waiter = start([&] { return run(number); });
    std::this_thread::sleep_for(lives[4] * (random() % 1000) / 1000);
    ::kill(victim, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(victim, &status, 0), victim);
    killedAlive += WIFSIGNALED(status);
    ASSERT_TRUE(succeeded(waiter)) << number;
    Cache cache = open(options());
    ASSERT_TRUE(cache.verify().bad.empty()) << number;
    ASSERT_EQ(cache.lookup(key(number)), valueOf(number, bytes)) << number;
    // What the victim left goes with the rest.
    cache.clear();
    ASSERT_TRUE(files().empty()) << files()[0];
  }
  // Else the moments say nothing. On a busy machine most victims end first.
  EXPECT_GE(killedAlive, 5);
}

// A builder that hangs costs the others their wait and not more: they build for
// themselves. It finishes later without harm.
TEST_F(CacheProcess, WaitingIsBounded) {
  SharedMemory shared;
  pid_t holder = start([&] {
    Cache cache = open(options());
    auto value = cache.getOrBuild(key(0), [&]() -> Result<std::string> {
      shared->waiting = 1;
      ::raise(SIGSTOP);
      return valueOf(0);
    });
    return value && value->built;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, WUNTRACED), holder);
  ASSERT_TRUE(WIFSTOPPED(status));
  CacheOptions hasty = options();
  hasty.lockWait = 50ms;
  Cache cache = open(hasty);
  auto value = cache.getOrBuild(
      key(0), []() -> Result<std::string> { return valueOf(0); });
  ASSERT_TRUE(value);
  EXPECT_TRUE(value->built);
  EXPECT_EQ(cache.statistics().lockTimeouts, 1u);
  EXPECT_EQ(cache.statistics().storeFailures, 0u);
  ::kill(holder, SIGCONT);
  EXPECT_TRUE(succeeded(holder));
  EXPECT_EQ(cache.lookup(key(0)), valueOf(0));
  EXPECT_EQ(files().size(), 1u);
}

// Processes whose temporary files are all called the same do not disturb each
// other: a name that is taken is passed over.
TEST_F(CacheProcess, EqualTemporaryNamesDoNoHarm) {
  SharedMemory shared;
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    children.push_back(start([&, process] {
      CacheOptions same = options();
      int names = 0;
      same.temporaryName = [&] {
        return "same-" + std::to_string(names++ % 4);
      };
      Cache cache = open(same);
      shared->meet(4);
      bool good = true;
      for (int step = 0; step < 20; ++step) {
        int number = 20 * process + step;
        auto value =
            cache.getOrBuild(key(number), [&]() -> Result<std::string> {
              return valueOf(number, 100000);
            });
        good &= value && value->bytes == valueOf(number, 100000);
      }
      return good && cache.statistics().storeFailures == 0;
    }));
  }
  for (pid_t child : children) {
    EXPECT_TRUE(succeeded(child));
  }
  CacheVerification verified = open(options()).verify();
  EXPECT_EQ(verified.intact, 80u);
  EXPECT_TRUE(verified.bad.empty());
  EXPECT_TRUE(files(".tmp").empty());
}

// Two containers with one host name, in which every process has the id 1, build
// a key once like any two processes.
TEST_F(CacheProcess, ContainersAreNoSpecialCase) {
  SharedMemory shared;
  constexpr int notPermitted = 2;
  auto container = [&] {
    pid_t child = ::fork();
    if (child != 0) {
      return child;
    }
    if (::unshare(CLONE_NEWPID | CLONE_NEWUTS) != 0 ||
        ::sethostname("node", 4) != 0) {
      ::_exit(notPermitted);
    }
    pid_t first = start([&] {
      Cache cache = open(options());
      bool good = ::getpid() == 1 && shared->meet(2);
      auto value = cache.getOrBuild(key(0), [&]() -> Result<std::string> {
        ++shared->builds[0];
        std::this_thread::sleep_for(50ms);
        return valueOf(0);
      });
      return good && value && value->bytes == valueOf(0) &&
             cache.statistics().lockTimeouts == 0;
    });
    ::_exit(succeeded(first) ? 0 : 1);
  };
  std::array<pid_t, 2> containers = {container(), container()};
  for (pid_t child : containers) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == notPermitted) {
      GTEST_SKIP() << "making namespaces is not permitted";
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(shared->builds[0], 1);
}

/// Gives up the right of root to write where permissions forbid it. The user
/// stays the same: another one might not reach the folder of the test, which
/// can lie in one that is the user's alone. Returns whether it is gone.
static bool obeyPermissions() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) {
    return false;
  }
  const uint32_t rights =
      CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_DAC_READ_SEARCH);
  sets[0].effective &= ~rights;
  sets[0].permitted &= ~rights;
  sets[0].inheritable &= ~rights;
  return ::syscall(SYS_capset, &header, sets) == 0;
}

/// Builds two keys that are not kept. Returns what was not so: the values pass
/// through, and there is one warning that says \p why.
static std::string
buildsWithOneWarning(Cache &cache, const std::vector<std::string> &warnings,
                     const CacheKey &first, const CacheKey &second,
                     const std::string &why) {
  for (const CacheKey &key : {first, second}) {
    auto value = cache.getOrBuild(
        key, []() -> Result<std::string> { return valueOf(1, 1 << 17); });
    if (!value) {
      return "a build failed: " + value.error().message;
    }
    if (!value->built || value->bytes != valueOf(1, 1 << 17)) {
      return "a build did not pass through";
    }
  }
  if (warnings.size() != 1) {
    std::string problem =
        std::to_string(warnings.size()) + " warnings instead of 1";
    for (const std::string &warning : warnings) {
      problem += ": " + warning;
    }
    return problem;
  }
  if (warnings[0].find(why) == std::string::npos) {
    return "the warning does not say '" + why + "': " + warnings[0];
  }
  if (cache.statistics().storeFailures != 2) {
    return std::to_string(cache.statistics().storeFailures) +
           " failures to store are counted, not 2";
  }
  return "";
}

// In a read-only folder entries are found; others are built, with one warning.
TEST_F(CacheProcess, ReadOnlyFoldersServe) {
  std::string problem = problemOf([&]() -> std::string {
    if (!obeyPermissions()) {
      return "the rights of root cannot be given up";
    }
    {
      Cache writer = open(options());
      auto value = writer.getOrBuild(
          key(0), []() -> Result<std::string> { return valueOf(0); });
      if (!value || !warnings.empty()) {
        return "the folder cannot be filled: " +
               (value ? warnings[0] : value.error().message);
      }
    }
    if (::chmod(path().c_str(), 0500) != 0) {
      return "the folder cannot be made read-only";
    }
    Cache cache = open(options());
    std::string found;
    if (cache.lookup(key(0)) != valueOf(0)) {
      found = "an entry is not found";
    } else {
      found = buildsWithOneWarning(cache, warnings, key(1), key(2),
                                   "Permission denied");
    }
    CacheClearing cleared = cache.clear();
    if (found.empty() &&
        (cleared.removed != 0 || cleared.failed != 1 ||
         cleared.problem.find("Permission denied") == std::string::npos)) {
      found = "clearing removed " + std::to_string(cleared.removed) +
              " and failed for " + std::to_string(cleared.failed) + ": " +
              cleared.problem;
    }
    ::chmod(path().c_str(), 0700);
    return found;
  });
  EXPECT_EQ(problem, "");
}

// A folder that cannot be made is no reason not to build.
TEST_F(CacheProcess, MissingFoldersServe) {
  CacheOptions nowhere = options();
  nowhere.folder = "/proc/tenon/cache";
  Cache cache = open(nowhere);
  EXPECT_EQ(buildsWithOneWarning(cache, warnings, key(1), key(2),
                                 "No such file or directory"),
            "");
  EXPECT_FALSE(cache.lookup(key(1)));
  EXPECT_TRUE(cache.list().empty());
  EXPECT_EQ(cache.verify().intact, 0u);
  EXPECT_EQ(cache.clear().removed, 0u);
}

// A file that cannot grow leaves nothing behind, and one warning.
TEST_F(CacheProcess, FailedWritesLeaveNothing) {
  std::string problem = problemOf([&]() -> std::string {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {1 << 16, 1 << 16};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return "files cannot be limited";
    }
    Cache cache = open(options());
    std::string found =
        buildsWithOneWarning(cache, warnings, key(1), key(2), "File too large");
    return found.empty() && !files().empty() ? "left: " + files()[0] : found;
  });
  EXPECT_EQ(problem, "");
}

// So does a file system that is full.
TEST_F(CacheProcess, FullDisksServe) {
  const std::string notPermitted = "mounting is not permitted";
  std::filesystem::create_directory(path());
  std::string problem = problemOf([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", path().c_str(), "tmpfs", 0, "size=64k,mode=0700") !=
            0) {
      return notPermitted;
    }
    Cache cache = open(options());
    std::string found =
        buildsWithOneWarning(cache, warnings, key(1), key(2), "No space left");
    return found.empty() && !files().empty() ? "left: " + files()[0] : found;
  });
  if (problem == notPermitted) {
    GTEST_SKIP() << problem;
  }
  EXPECT_EQ(problem, "");
}
