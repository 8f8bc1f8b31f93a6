//===- BundleCommand.cpp - tenon bundle -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "Manifest.h"

#include "tenon/Runtime/Bundle.h"
#include "tenon/Runtime/Compiler.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
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

/// Writes all kernels of the bundles \p inputs into one.
static int mergeBundles(const std::vector<std::string> &inputs,
                        const std::string &output) {
  std::vector<runtime::BundleKernel> kernels;
  for (const std::string &input : inputs) {
    auto bundle = runtime::Bundle::open(input);
    if (!bundle) {
      return fail(bundle.error().message);
    }
    for (size_t i = 0; i < (*bundle)->size(); ++i) {
      auto kernel = (*bundle)->kernel(i);
      if (!kernel) {
        return fail(kernel.error().message);
      }
      kernels.push_back(std::move(*kernel));
    }
  }
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

/// "I/N" with 1 <= I <= N.
static bool parseShard(const std::string &text, size_t &index, size_t &count) {
  llvm::StringRef left, right;
  std::tie(left, right) = llvm::StringRef(text).split('/');
  return !left.getAsInteger(10, index) && !right.getAsInteger(10, count) &&
         index >= 1 && index <= count;
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
  TemporaryFolder folder;
  if (folder.path.empty()) {
    return fail("cannot make a temporary folder");
  }
  unsigned jobs = arguments.jobs
                      ? arguments.jobs
                      : std::max(std::thread::hardware_concurrency(), 1U);
  // Children, because a compile that crashes must not take the others along,
  // and because LLD links one object at a time in a process.
  std::atomic<size_t> next = 0;
  size_t done = 0;
  std::vector<std::string> errors;
  std::mutex lock;
  bool isTerminal = isatty(2);
  auto part = [&](size_t i) {
    return fmt::format("{}/{}.tenon", folder.path, i);
  };
  auto work = [&] {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      std::vector<std::string> command = {"/proc/self/exe", "compile", "--op",
                                          kernels[i].op};
      for (const auto &[name, value] : kernels[i].settings) {
        command.insert(command.end(), {"--set", name + "=" + value});
      }
      command.insert(command.end(), {"--target", manifest->target, "--emit",
                                     "bundle", "-o", part(i)});
      runtime::Status status = runtime::runProgram(command);
      std::lock_guard<std::mutex> guard(lock);
      ++done;
      if (!status) {
        errors.push_back(
            fmt::format("{}: {}", kernels[i].where, status.error().message));
      }
      if (isTerminal) {
        size_t filled = done * 40 / kernels.size();
        fmt::print(stderr, "\r[{:=<{}}{: <{}}] {}/{}", "", filled, "",
                   40 - filled, done, kernels.size());
        std::fflush(stderr);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::min<size_t>(jobs, kernels.size()); ++i) {
    threads.emplace_back(work);
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  if (isTerminal) {
    fmt::print(stderr, "\n");
  }
  for (const std::string &error : errors) {
    printError(error);
  }
  if (!errors.empty()) {
    return CannotCompileOrExecute;
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < kernels.size(); ++i) {
    parts.push_back(part(i));
  }
  return mergeBundles(parts, arguments.output);
}

static int bundleCommand(const BundleArguments &arguments) {
  if (arguments.list) {
    if (arguments.merge || arguments.inputs.size() != 1 ||
        !arguments.output.empty()) {
      return fail("--list shows one bundle and writes none");
    }
    return listBundle(arguments.inputs[0]);
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
  command->add_flag("--merge", arguments->merge, "Join bundles into one");
  command->add_flag("--list", arguments->list,
                    "Check a bundle and show what is in it");
  command->callback([arguments, &action] {
    action = [arguments] { return bundleCommand(*arguments); };
  });
}
