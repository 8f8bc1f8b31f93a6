//===- BundleTest.cpp - bundles are read as written, or refused -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Bundle.h"

#include "SamplePlan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon::runtime;

static BundleKernel makeKernel(std::string statics, std::string bucket,
                               std::string target = "gfx950") {
  BundleKernel kernel;
  kernel.key = {"gemm", statics, bucket};
  kernel.target = target;
  kernel.schedule = "{waves = 4}";
  kernel.llvmVersion = "22.1.8";
  kernel.compilerBuild = "build " + statics;
  kernel.contractVersion = 3;
  kernel.plan = toJson(samplePlan());
  kernel.codeObject.resize(200);
  for (size_t i = 0; i < kernel.codeObject.size(); ++i) {
    kernel.codeObject[i] = uint8_t(i * 7 + statics.size() + bucket.size());
  }
  return kernel;
}

static std::vector<BundleKernel> sampleKernels() {
  return {makeKernel("N=8", "m=16"), makeKernel("N=16", "m=1"),
          makeKernel("N=8", "m=1"), makeKernel("N=8", "m=1", "gfx942")};
}

static std::vector<uint8_t> sampleBytes() {
  auto bytes = writeBundle(sampleKernels());
  EXPECT_TRUE(bool(bytes));
  return *bytes;
}

/// The error of opening \p bytes, or of anything in the bundle; empty when all
/// of it is readable.
static std::string complaint(std::vector<uint8_t> bytes) {
  auto bundle = Bundle::fromBytes(std::move(bytes), "b.tenon");
  if (!bundle) {
    return bundle.error().message;
  }
  for (size_t i = 0; i < (*bundle)->size(); ++i) {
    auto plan = (*bundle)->plan(i);
    auto code = (*bundle)->codeObject(i);
    if (!plan) {
      return plan.error().message;
    }
    if (!code) {
      return code.error().message;
    }
  }
  return "";
}

/// A file in a folder of its own, both gone at the end.
class TemporaryFile {
public:
  TemporaryFile() {
    char pattern[] = "/tmp/tenon-bundle-XXXXXX";
    folder = mkdtemp(pattern);
    path = folder + "/b.tenon";
  }
  ~TemporaryFile() {
    unlink(path.c_str());
    rmdir(folder.c_str());
  }
  std::string folder, path;
};

// What is read is what was written, found under its key, whatever the order of
// writing.
TEST(Bundle, ReadsBack) {
  std::vector<BundleKernel> kernels = sampleKernels();
  auto bundle = Bundle::fromBytes(sampleBytes(), "b.tenon");
  ASSERT_TRUE(bool(bundle)) << bundle.error().message;
  ASSERT_EQ((*bundle)->size(), kernels.size());
  for (const BundleKernel &kernel : kernels) {
    auto [begin, end] =
        (*bundle)->find("gemm", kernel.key.statics, kernel.target);
    ASSERT_LT(begin, end);
    bool seen = false;
    for (size_t i = begin; i < end; ++i) {
      auto found = (*bundle)->kernel(i);
      ASSERT_TRUE(bool(found));
      EXPECT_EQ(found->key.statics, kernel.key.statics);
      EXPECT_EQ(found->target, kernel.target);
      if (found->key.bucket != kernel.key.bucket) {
        continue;
      }
      seen = true;
      EXPECT_EQ(found->codeObject, kernel.codeObject);
      EXPECT_EQ(found->plan, kernel.plan);
      EXPECT_EQ(found->schedule, kernel.schedule);
      EXPECT_EQ(found->llvmVersion, kernel.llvmVersion);
      EXPECT_EQ(found->compilerBuild, kernel.compilerBuild);
      EXPECT_EQ(found->contractVersion, kernel.contractVersion);
      EXPECT_TRUE(*(*bundle)->plan(i) == samplePlan());
    }
    EXPECT_TRUE(seen);
  }
  auto [begin, end] = (*bundle)->find("gemm", "N=9", "gfx950");
  EXPECT_EQ(begin, end);
  kernels = {kernels[2], kernels[3], kernels[1], kernels[0]};
  EXPECT_EQ(*writeBundle(kernels), sampleBytes());
}

// A kernel that comes twice is stored once; two kernels under one key are
// refused with what they differ in.
TEST(Bundle, MergesEqualKernels) {
  std::vector<BundleKernel> twice = sampleKernels();
  twice.push_back(twice.front());
  EXPECT_EQ(*writeBundle(twice), sampleBytes());
  twice.back().llvmVersion = "22.1.9";
  auto bytes = writeBundle(twice);
  ASSERT_FALSE(bool(bytes));
  EXPECT_NE(bytes.error().message.find(
                "gemm (N=8) [m=16] on gfx950: they differ in LLVM '22.1.8' and "
                "'22.1.9'"),
            std::string::npos)
      << bytes.error().message;
}

// An empty bundle is a bundle.
TEST(Bundle, MayBeEmpty) {
  auto bundle = Bundle::fromBytes(*writeBundle({}), "b.tenon");
  ASSERT_TRUE(bool(bundle)) << bundle.error().message;
  EXPECT_EQ((*bundle)->size(), 0u);
}

// Cut at any length, a bundle is refused, and from the magic on it is called
// truncated.
TEST(Bundle, TruncatedIsRefused) {
  std::vector<uint8_t> whole = sampleBytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    auto bundle =
        Bundle::fromBytes({whole.begin(), whole.begin() + length}, "b.tenon");
    ASSERT_FALSE(bool(bundle)) << length;
    const char *expected =
        length < 8 ? "'b.tenon' is no bundle" : "'b.tenon' is truncated";
    EXPECT_NE(bundle.error().message.find(expected), std::string::npos)
        << length << ": " << bundle.error().message;
  }
  whole.push_back(0);
  EXPECT_NE(complaint(whole), "");
}

// A flipped bit anywhere is found when what holds it is read; one in the fill
// between contents is none of the bundle's.
TEST(Bundle, FlippedBitsAreFound) {
  std::vector<uint8_t> whole = sampleBytes();
  size_t fill = 0;
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bytes = whole;
      bytes[byte] ^= 1 << bit;
      std::string found = complaint(bytes);
      if (found.empty()) {
        EXPECT_EQ(whole[byte], 0) << "byte " << byte << " bit " << bit;
        ++fill;
        break;
      }
    }
  }
  // At most 63 bytes behind the index and behind each of the contents: one
  // plan and three different code objects.
  EXPECT_LE(fill, 63u * 5);
}

// A newer format is refused by its number, whatever the rest of it is.
TEST(Bundle, NewerIsRefused) {
  std::vector<uint8_t> bytes = sampleBytes();
  uint32_t newer = Bundle::formatVersion + 1;
  std::memcpy(bytes.data() + 8, &newer, 4);
  std::string found = complaint(bytes);
  EXPECT_NE(found.find("has format 2; this version of Tenon reads up to 1"),
            std::string::npos)
      << found;
}

// Files: written by renaming, opened by mapping, pinned by their SHA-256.
TEST(Bundle, FilesArePinned) {
  TemporaryFile file;
  ASSERT_TRUE(bool(writeBundleFile(file.path, sampleBytes())));
  auto bundle = Bundle::open(file.path);
  ASSERT_TRUE(bool(bundle)) << bundle.error().message;
  EXPECT_EQ((*bundle)->size(), 4u);
  std::string digest = (*bundle)->sha256();
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_TRUE(bool(Bundle::open(file.path, digest)));
  digest[0] = digest[0] == '0' ? '1' : '0';
  auto refused = Bundle::open(file.path, digest);
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(refused.error().message.find("not " + digest), std::string::npos);
  EXPECT_FALSE(bool(Bundle::open(file.folder)));
  EXPECT_FALSE(bool(Bundle::open(file.path + ".missing")));
  EXPECT_FALSE(
      bool(writeBundleFile(file.folder + "/none/b.tenon", sampleBytes())));
}

// The SHA-256 is that of the standard: FIPS 180-2, appendix B.1.
TEST(Bundle, DigestIsSha256) {
  TemporaryFile file;
  std::ofstream(file.path) << "abc";
  auto refused = Bundle::open(file.path, std::string(64, '0'));
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(
      refused.error().message.find("ba7816bf8f01cfea414140de5dae2223b00361a396"
                                   "177a9cb410ff61f20015ad"),
      std::string::npos);
}
