//===- BundleCommand.cpp - tenon bundle -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "Manifest.h"

#include "tenon/CodeGen/Comgr.h"
#include "tenon/Runtime/Bundle.h"
#include "tenon/Runtime/CompiledKernel.h"
#include "tenon/Runtime/Compiler.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace tenon;
using namespace tenon::cli;

namespace {
struct BundleArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string shard;
  unsigned jobs = 0;
  bool merge = false;
  bool list = false;
  bool keys = false;
  bool noCache = false;
  std::string linker = "lld";
};

/// A folder that is gone at the end.
struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tenon-bundle-XXXXXX")
            .string();
    path = mkdtemp(pattern.data()) ? pattern : "";
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};
} // namespace

static int fail(const std::string &message, int code = BadInput) {
  printError(message);
  return code;
}

static int listBundle(const std::string &path) {
  auto bundle = runtime::Bundle::open(path);
  if (!bundle) {
    return fail(bundle.error().message);
  }
  fmt::print("{}: {} kernels, SHA-256 {}\n", path, (*bundle)->size(),
             (*bundle)->sha256());
  for (size_t i = 0; i < (*bundle)->size(); ++i) {
    runtime::BundleEntry entry = (*bundle)->entry(i);
    // All of it is read, so that what is listed is known to be intact.
    auto kernel = (*bundle)->kernel(i);
    if (!kernel) {
      return fail(kernel.error().message);
    }
    fmt::print("{}({}){}{}{} {}\n  schedule {}\n  code {} bytes, plan {} "
               "bytes, contract {}, LLVM {}, compiler {}\n",
               entry.op, entry.statics, entry.bucket.empty() ? "" : " [",
               entry.bucket, entry.bucket.empty() ? "" : "]", entry.target,
               entry.schedule, entry.codeBytes, entry.planBytes,
               entry.contractVersion, entry.llvmVersion, entry.compilerBuild);
  }
  return Success;
}

static runtime::Status addKernels(const runtime::Bundle &bundle,
                                  std::vector<runtime::BundleKernel> &kernels) {
  for (size_t i = 0; i < bundle.size(); ++i) {
    auto kernel = bundle.kernel(i);
    if (!kernel) {
      return kernel.error();
    }
    kernels.push_back(std::move(*kernel));
  }
  return {};
}

static int writeKernels(std::vector<runtime::BundleKernel> kernels,
                        const std::string &output) {
  auto bytes = runtime::writeBundle(std::move(kernels));
  if (!bytes) {
    return fail(bytes.error().message);
  }
  if (runtime::Status written = runtime::writeBundleFile(output, *bytes);
      !written) {
    return fail(written.error().message);
  }
  return Success;
}

/// Writes all kernels of the bundles \p inputs into one.
static int mergeBundles(const std::vector<std::string> &inputs,
                        const std::string &output) {
  std::vector<runtime::BundleKernel> kernels;
  for (const std::string &input : inputs) {
    auto bundle = runtime::Bundle::open(input);
    if (!bundle) {
      return fail(bundle.error().message);
    }
    if (runtime::Status added = addKernels(**bundle, kernels); !added) {
      return fail(added.error().message);
    }
  }
  return writeKernels(std::move(kernels), output);
}

/// "I/N" with 1 <= I <= N.
static bool parseShard(const std::string &text, size_t &index, size_t &count) {
  llvm::StringRef left, right;
  std::tie(left, right) = llvm::StringRef(text).split('/');
  return !left.getAsInteger(10, index) && !right.getAsInteger(10, count) &&
         index >= 1 && index <= count;
}

namespace {
/// Builds kernels, several at a time, each in a child: a compile that crashes
/// must not take the others along, and LLD links one object at a time in a
/// process. The disk cache is that of the runtime; what it has is not built.
class Builder {
public:
  Builder(std::string target, std::string linker,
          std::vector<ManifestKernel> kernels)
      : target(std::move(target)), linker(std::move(linker)),
        kernels(std::move(kernels)) {}

  runtime::Status openCache();
  /// The bundles of the kernels, in their order; empty where one failed, which
  /// is then among the errors.
  std::vector<std::string> run(unsigned jobs);

  std::vector<std::string> errors;
  size_t found = 0; ///< in the cache

private:
  runtime::Result<std::string> compile(size_t index) const;
  runtime::Result<std::string> provide(size_t index);
  void showProgress() const;

  const std::string target, linker;
  const std::vector<ManifestKernel> kernels;
  const TemporaryFolder folder;
  std::string compiler;
  std::optional<runtime::Cache> cache;
  std::mutex lock; ///< of what follows, and of what others see
  size_t done = 0;
};
} // namespace

runtime::Status Builder::openCache() {
  auto build = runtime::compilerBuild("/proc/self/exe");
  if (!build) {
    return build.error();
  }
  compiler = std::move(*build);
  // What another linker made is another kernel.
  if (linker != "lld") {
    auto comgr = codegen::Comgr::get();
    compiler +=
        " " + (comgr ? (*comgr)->name() : llvm::toString(comgr.takeError()));
  }
  auto opened = runtime::Cache::open();
  if (!opened) {
    return opened.error();
  }
  cache = std::move(*opened);
  return {};
}

runtime::Result<std::string> Builder::compile(size_t index) const {
  if (folder.path.empty()) {
    return runtime::Error{"cannot make a temporary folder"};
  }
  const ManifestKernel &kernel = kernels[index];
  std::string output = fmt::format("{}/{}.tenon", folder.path, index);
  std::vector<std::string> command = {"/proc/self/exe", "compile", "--op",
                                      kernel.op};
  for (const auto &[name, value] : kernel.settings) {
    command.insert(command.end(), {"--set", name + "=" + value});
  }
  command.insert(command.end(), {"--target", target, "--linker", linker,
                                 "--emit", "bundle", "-o", output});
  if (runtime::Status ran = runtime::runProgram(command); !ran) {
    return ran.error();
  }
  std::ifstream stream(output, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  std::filesystem::remove(output);
  return bytes;
}

runtime::Result<std::string> Builder::provide(size_t index) {
  if (!cache) {
    return compile(index);
  }
  auto key = runtime::kernelKey(kernels[index].op, kernels[index].settings);
  if (!key) {
    return key.error();
  }
  auto value =
      cache->getOrBuild(runtime::compiledKernelKey(*key, compiler, target),
                        [&] { return compile(index); });
  if (!value) {
    return value.error();
  }
  if (!value->built) {
    std::lock_guard<std::mutex> guard(lock);
    ++found;
  }
  return std::move(value->bytes);
}

void Builder::showProgress() const {
  if (isatty(2)) {
    size_t filled = done * 40 / kernels.size();
    fmt::print(stderr, "\r[{:=<{}}{: <{}}] {}/{}{}", "", filled, "",
               40 - filled, done, kernels.size(),
               done == kernels.size() ? "\n" : "");
    std::fflush(stderr);
  }
}

std::vector<std::string> Builder::run(unsigned jobs) {
  std::vector<std::string> bundles(kernels.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      runtime::Result<std::string> bytes = provide(i);
      std::lock_guard<std::mutex> guard(lock);
      ++done;
      if (bytes) {
        bundles[i] = std::move(*bytes);
      } else {
        errors.push_back(
            fmt::format("{}: {}", kernels[i].where, bytes.error().message));
      }
      showProgress();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::min<size_t>(jobs, kernels.size()); ++i) {
    threads.emplace_back(work);
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return bundles;
}

/// Prints the key of every kernel, one a line.
static int listKeys(const std::vector<ManifestKernel> &kernels) {
  for (const ManifestKernel &kernel : kernels) {
    auto key = runtime::kernelKey(kernel.op, kernel.settings);
    if (!key) {
      return fail(kernel.where + ": " + key.error().message);
    }
    fmt::print("{}({}){}{}{}\n", key->op, key->statics,
               key->bucket.empty() ? "" : " [", key->bucket,
               key->bucket.empty() ? "" : "]");
  }
  return Success;
}

static int buildManifest(const BundleArguments &arguments) {
  auto manifest = readManifest(arguments.inputs[0]);
  if (!manifest) {
    return fail(llvm::toString(manifest.takeError()));
  }
  std::vector<ManifestKernel> &all = manifest->kernels;
  size_t index = 1, count = 1;
  if (!arguments.shard.empty() && !parseShard(arguments.shard, index, count)) {
    return fail("--shard: expected I/N with I from 1 to N, found '" +
                arguments.shard + "'");
  }
  std::vector<ManifestKernel> kernels;
  for (size_t i = index - 1; i < all.size(); i += count) {
    kernels.push_back(all[i]);
  }
  if (arguments.keys) {
    return listKeys(kernels);
  }
  Builder builder(manifest->target, arguments.linker, std::move(kernels));
  if (!arguments.noCache) {
    if (runtime::Status opened = builder.openCache(); !opened) {
      fmt::print(stderr, "tenon: warning: compiled kernels are not kept: {}\n",
                 opened.error().message);
    }
  }
  std::vector<std::string> bundles = builder.run(
      arguments.jobs ? arguments.jobs
                     : std::max(std::thread::hardware_concurrency(), 1U));
  for (const std::string &error : builder.errors) {
    printError(error);
  }
  if (!builder.errors.empty()) {
    return CannotCompileOrExecute;
  }
  std::vector<runtime::BundleKernel> built;
  for (const std::string &bytes : bundles) {
    auto bundle =
        runtime::Bundle::fromBytes({bytes.begin(), bytes.end()}, "compiled");
    if (!bundle) {
      return fail(bundle.error().message, CannotCompileOrExecute);
    }
    if (runtime::Status added = addKernels(**bundle, built); !added) {
      return fail(added.error().message, CannotCompileOrExecute);
    }
  }
  int code = writeKernels(std::move(built), arguments.output);
  if (code == Success) {
    fmt::print("{}: {} kernels, {} of them from the cache\n", arguments.output,
               bundles.size(), builder.found);
  }
  return code;
}

static int bundleCommand(const BundleArguments &arguments) {
  if (arguments.list) {
    if (arguments.merge || arguments.inputs.size() != 1 ||
        !arguments.output.empty()) {
      return fail("--list shows one bundle and writes none");
    }
    return listBundle(arguments.inputs[0]);
  }
  if (arguments.keys) {
    if (arguments.merge || arguments.inputs.size() != 1 ||
        !arguments.output.empty()) {
      return fail("--keys shows one manifest and builds nothing");
    }
    return buildManifest(arguments);
  }
  if (arguments.output.empty()) {
    return fail("a bundle needs a file: -o FILE.tenon");
  }
  if (arguments.merge) {
    return mergeBundles(arguments.inputs, arguments.output);
  }
  if (arguments.inputs.size() != 1) {
    return fail("one manifest expected; --merge joins bundles");
  }
  return buildManifest(arguments);
}

void cli::addBundle(CLI::App &app, Action &action) {
  auto arguments = std::make_shared<BundleArguments>();
  CLI::App *command = app.add_subcommand(
      "bundle", "Build the kernels of a manifest into a bundle, join bundles, "
                "or list one");
  command
      ->add_option("input", arguments->inputs,
                   "Manifest (JSON, kernels_spec/manifest.schema.json), or "
                   "bundles with --merge and --list")
      ->required();
  command->add_option("-o,--output", arguments->output, "Bundle to write");
  command->add_option("--shard", arguments->shard,
                      "I/N: build every Nth kernel, beginning with the Ith; "
                      "--merge joins the parts");
  command->add_option("--jobs", arguments->jobs,
                      "Kernels to compile at a time (0: as many as cores)");
  addLinkerOption(*command, arguments->linker);
  command->add_flag("--no-cache", arguments->noCache,
                    "Build all kernels, and keep none in the disk cache");
  command->add_flag("--keys", arguments->keys,
                    "Show the kernels that a manifest names, and build none");
  command->add_flag("--merge", arguments->merge, "Join bundles into one");
  command->add_flag("--list", arguments->list,
                    "Check a bundle and show what is in it");
  command->callback([arguments, &action] {
    action = [arguments] { return bundleCommand(*arguments); };
  });
}
