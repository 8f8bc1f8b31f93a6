//===- DoctorCommand.cpp - tenon doctor -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "runtime/Devices/HipReport.h"
#include "runtime/Devices/SimPluginLoader.h"
#include "tenon/CodeGen/Comgr.h"
#include "tenon/Runtime/Cache.h"
#include "tenon/Target/TargetInfo.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

using namespace tenon;
using namespace tenon::cli;
using nlohmann::json;

/// The first line of a file; empty when it cannot be read.
static std::string firstLine(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().split('\n').first.trim().str() : "";
}

/// The kernel's driver of AMD GPUs.
static json amdgpuDriver() {
  json result = {{"loaded", llvm::sys::fs::exists("/sys/module/amdgpu")},
                 {"kfd", llvm::sys::fs::exists("/dev/kfd")}};
  // Only that of ROCm's own package has a version.
  std::string version = firstLine("/sys/module/amdgpu/version");
  if (!version.empty()) {
    result["version"] = version;
  }
  if (result["kfd"]) {
    result["accessible"] =
        !llvm::sys::fs::access("/dev/kfd", llvm::sys::fs::AccessMode::Write);
  }
  return result;
}

static json hipLibrary() {
  runtime::HipReport report = runtime::reportHip();
  json result = {{"devices", report.devices}};
  if (!report.soname.empty()) {
    result["library"] = report.soname;
    result["path"] = report.path;
    result["version"] = report.version;
  }
  if (!report.problem.empty()) {
    result["problem"] = report.problem;
  }
  return result;
}

/// The code object manager of ROCm.
static json comgrLibrary() {
  auto comgr = codegen::Comgr::get();
  if (!comgr) {
    llvm::consumeError(comgr.takeError());
    return nullptr;
  }
  // Chips of Tenon that it can link for.
  json chips = json::array();
  for (llvm::StringRef chip : target::TargetInfo::knownChips()) {
    if ((*comgr)->knows(chip)) {
      chips.push_back(chip.str());
    }
  }
  return {{"library", (*comgr)->librarySoname()},
          {"version", (*comgr)->version()},
          {"chips", chips}};
}

/// What `python3` on the PATH is, and the torch that it would import; torch
/// itself takes seconds to import and is not.
static json pythonProgram() {
  auto program = llvm::sys::findProgramByName("python3");
  llvm::SmallString<64> output;
  if (!program ||
      llvm::sys::fs::createTemporaryFile("tenon-doctor", "txt", output)) {
    return nullptr;
  }
  const char *script = "import sys, importlib.metadata as m\n"
                       "print(sys.version.split()[0])\n"
                       "for name in ('torch', 'tenon'):\n"
                       "    try: print(m.version(name))\n"
                       "    except m.PackageNotFoundError: print()\n";
  int code = llvm::sys::ExecuteAndWait(
      *program, {*program, "-c", script}, std::nullopt,
      {llvm::StringRef(""), llvm::StringRef(output), llvm::StringRef("")}, 20);
  json result = {{"program", *program}};
  if (auto buffer = llvm::MemoryBuffer::getFile(output); buffer && code == 0) {
    llvm::SmallVector<llvm::StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n');
    const char *names[] = {"version", "torch", "tenon"};
    for (size_t i = 0; i < 3 && i < lines.size(); ++i) {
      if (!lines[i].empty()) {
        result[names[i]] = lines[i].str();
      }
    }
  }
  llvm::sys::fs::remove(output);
  return result;
}

static json cacheFolder() {
  json result;
  if (runtime::Result<std::string> folder = runtime::defaultCacheFolder()) {
    result["folder"] = *folder;
  }
  runtime::Result<runtime::Cache> opened = runtime::Cache::open();
  if (!opened) {
    result["problem"] = opened.error().message;
    return result;
  }
  uint64_t bytes = 0;
  std::vector<runtime::CacheEntry> entries = opened->list();
  for (const runtime::CacheEntry &entry : entries) {
    bytes += entry.bytes;
  }
  result["entries"] = entries.size();
  result["bytes"] = bytes;
  result["writable"] = !llvm::sys::fs::access(opened->folder(),
                                              llvm::sys::fs::AccessMode::Write);
  return result;
}

static json bundleFile(const std::string &path) {
  json result = {{"path", path}};
  auto opened = runtime::Bundle::open(path);
  if (!opened) {
    result["problem"] = opened.error().message;
    return result;
  }
  std::set<std::string> ops, targets;
  for (size_t i = 0; i < (*opened)->size(); ++i) {
    ops.emplace((*opened)->entry(i).op);
    targets.emplace((*opened)->entry(i).target);
  }
  result["kernels"] = (*opened)->size();
  result["ops"] = ops;
  result["targets"] = targets;
  return result;
}

static json examine(const std::vector<std::string> &bundles) {
  json all = {{"tenon", TENON_VERSION},   {"llvm", TENON_LLVM_VERSION},
              {"driver", amdgpuDriver()}, {"hip", hipLibrary()},
              {"comgr", comgrLibrary()},  {"python", pythonProgram()},
              {"cache", cacheFolder()},   {"bundles", json::array()}};
  std::string rocm = firstLine("/opt/rocm/.info/version");
  all["rocm"] = rocm.empty() ? json(nullptr) : json(rocm);
  auto plugin = runtime::loadSimPlugin();
  all["simulator"] =
      plugin ? json::object() : json{{"problem", plugin.error().message}};
  for (const std::string &path : bundles) {
    all["bundles"].push_back(bundleFile(path));
  }
  return all;
}

/// "a, b" of an array of texts.
static std::string joined(const json &texts) {
  std::string result;
  for (const json &text : texts) {
    result += (result.empty() ? "" : ", ") + text.get<std::string>();
  }
  return result;
}

static void print(const json &all) {
  auto line = [](const char *what, const std::string &text) {
    fmt::print("{:<10} {}\n", what, text);
  };
  line("tenon", fmt::format("{} (LLVM {})", all["tenon"].get<std::string>(),
                            all["llvm"].get<std::string>()));
  const json &hip = all["hip"];
  line("chips", hip["devices"].empty() ? "no GPU" : joined(hip["devices"]));
  const json &driver = all["driver"];
  line("driver",
       !driver["loaded"] ? "amdgpu is not loaded"
       : !driver["kfd"]  ? "amdgpu, but there is no /dev/kfd"
       : !driver["accessible"]
           ? "amdgpu, but /dev/kfd is not for this user (groups render, video)"
           : "amdgpu " + driver.value("version", "of the kernel"));
  line("HIP", hip.contains("library")
                  ? fmt::format("{} {} ({})", hip["library"].get<std::string>(),
                                hip["version"].get<std::string>(),
                                hip["path"].get<std::string>())
                  : "not installed");
  if (hip.contains("problem")) {
    line("", hip["problem"]);
  }
  line("ROCm", all["rocm"].is_null() ? "not in /opt/rocm"
                                     : all["rocm"].get<std::string>());
  const json &comgr = all["comgr"];
  line("comgr",
       comgr.is_null()
           ? "not installed"
           : fmt::format("{} {}, {}", comgr["library"].get<std::string>(),
                         comgr["version"].get<std::string>(),
                         comgr["chips"].empty()
                             ? "knows no chip of Tenon"
                             : "links for " + joined(comgr["chips"])));
  const json &simulator = all["simulator"];
  line("simulator", simulator.value("problem", "libtenon_sim.so"));
  const json &python = all["python"];
  line("Python", python.is_null()
                     ? "no python3 on the PATH"
                     : fmt::format("{} ({})", python.value("version", "broken"),
                                   python["program"].get<std::string>()));
  if (!python.is_null()) {
    line("torch", python.value("torch", "not installed"));
  }
  const json &cache = all["cache"];
  line("cache", cache.contains("problem")
                    ? cache["problem"].get<std::string>()
                    : fmt::format("{}: {} entries, {} bytes{}",
                                  cache.value("folder", "?"),
                                  cache["entries"].get<uint64_t>(),
                                  cache["bytes"].get<uint64_t>(),
                                  cache["writable"] ? "" : ", read-only"));
  for (const json &bundle : all["bundles"]) {
    line("bundle",
         bundle.contains("problem")
             ? bundle["problem"].get<std::string>()
             : fmt::format("{}: {} kernels for {}: {}",
                           bundle["path"].get<std::string>(),
                           bundle["kernels"].get<size_t>(),
                           joined(bundle["targets"]), joined(bundle["ops"])));
  }
}

void cli::addDoctor(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand(
      "doctor", "Say what of this machine Tenon can use: GPU, driver, HIP, "
                "ROCm, comgr, Python, the cache, bundles");
  auto asJson = std::make_shared<bool>(false);
  auto bundles = std::make_shared<std::vector<std::string>>();
  command->add_flag("--json", *asJson, "Print JSON");
  command->add_option("bundle", *bundles, "Bundles to look into");
  command->callback([=, &action] {
    action = [=] {
      json all = examine(*bundles);
      if (*asJson) {
        fmt::print("{}\n",
                   all.dump(2, ' ', false, json::error_handler_t::replace));
      } else {
        print(all);
      }
      return Success;
    };
  });
}
