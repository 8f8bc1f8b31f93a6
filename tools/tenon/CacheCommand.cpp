//===- CacheCommand.cpp - tenon cache ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "tenon/Runtime/Cache.h"

#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::cli;
using nlohmann::json;

/// Seconds of the epoch.
static int64_t seconds(const runtime::CacheEntry &entry) {
  return std::chrono::system_clock::to_time_t(entry.lastUsed);
}

static int listEntries(runtime::Cache &cache, bool asJson) {
  std::vector<runtime::CacheEntry> entries = cache.list();
  uint64_t bytes = 0;
  json rows = json::array();
  for (const runtime::CacheEntry &entry : entries) {
    bytes += entry.bytes;
    rows.push_back({{"digest", entry.digest},
                    {"title", entry.key.title},
                    {"target", entry.key.target},
                    {"schedule", entry.key.schedule},
                    {"compiler", entry.key.compiler},
                    {"spec", entry.key.spec},
                    {"bytes", entry.bytes},
                    {"last_used", seconds(entry)}});
  }
  if (asJson) {
    json all = {
        {"folder", cache.folder()}, {"bytes", bytes}, {"entries", rows}};
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
    return Success;
  }
  for (const runtime::CacheEntry &entry : entries) {
    std::string used = llvm::formatv("{0:%Y-%m-%d %H:%M:%S}",
                                     llvm::sys::toUtcTime(seconds(entry)));
    fmt::print("{}  {:<8} {:>9} bytes  used {} UTC  {}\n",
               entry.digest.substr(0, 12), entry.key.target, entry.bytes, used,
               entry.key.title);
  }
  fmt::print("{} entries, {} bytes in {}\n", entries.size(), bytes,
             cache.folder());
  return Success;
}

static int verifyEntries(runtime::Cache &cache, bool asJson) {
  runtime::CacheVerification found = cache.verify();
  if (asJson) {
    json all = {{"folder", cache.folder()},
                {"intact", found.intact},
                {"damaged", found.bad}};
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    for (const std::string &bad : found.bad) {
      fmt::print("damaged  {}\n", bad);
    }
    fmt::print("{} intact, {} damaged in {}\n", found.intact, found.bad.size(),
               cache.folder());
  }
  return found.bad.empty() ? Success : CheckFailed;
}

static int clearEntries(runtime::Cache &cache, bool asJson) {
  runtime::CacheClearing cleared = cache.clear();
  if (asJson) {
    json all = {{"folder", cache.folder()},
                {"removed", cleared.removed},
                {"bytes", cleared.bytes},
                {"in_use", cleared.inUse},
                {"failed", cleared.failed}};
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("{} entries removed, {} bytes, from {}\n", cleared.removed,
               cleared.bytes, cache.folder());
    if (cleared.inUse != 0) {
      fmt::print("{} entries stay, a process is using them\n", cleared.inUse);
    }
  }
  if (cleared.failed != 0) {
    printError(fmt::format("{} entries could not be removed: {}",
                           cleared.failed, cleared.problem));
    return BadInput;
  }
  return Success;
}

static int printPath(bool asJson) {
  runtime::Result<std::string> folder = runtime::defaultCacheFolder();
  if (!folder) {
    printError(folder.error().message);
    return BadInput;
  }
  if (asJson) {
    fmt::print("{}\n",
               json({{"folder", *folder}})
                   .dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    fmt::print("{}\n", *folder);
  }
  return Success;
}

/// Opens the cache for \p work; an error is printed.
static int withCache(int (*work)(runtime::Cache &, bool), bool asJson) {
  runtime::Result<runtime::Cache> cache = runtime::Cache::open();
  if (!cache) {
    printError(cache.error().message);
    return BadInput;
  }
  return work(*cache, asJson);
}

void cli::addCache(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand(
      "cache",
      "Look after the folder of compiled kernels: list, verify, clear, "
      "path");
  command->require_subcommand(1);
  command->footer(
      "The folder is TENON_CACHE_DIR, else tenon in XDG_CACHE_HOME, "
      "else ~/.cache/tenon.\nTENON_CACHE_MAX_BYTES limits what it "
      "holds (default: 4 GiB).");
  auto asJson = std::make_shared<bool>(false);
  auto add = [&](const char *name, const char *help, auto work) {
    CLI::App *part = command->add_subcommand(name, help);
    part->add_flag("--json", *asJson, "Print JSON");
    part->callback([work, asJson, &action] {
      action = [work, asJson] { return work(*asJson); };
    });
  };
  add("list", "What is in it, the most recently used first",
      [](bool json) { return withCache(listEntries, json); });
  add("verify",
      "Check the content of every entry and remove those that are damaged",
      [](bool json) { return withCache(verifyEntries, json); });
  add("clear", "Remove all entries that no process is using",
      [](bool json) { return withCache(clearEntries, json); });
  add("path", "Where it is", [](bool json) { return printPath(json); });
}
