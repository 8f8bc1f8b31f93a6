//===- MfmaSumTest.cpp - the order of sums in matrix products ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What docs/reference/simulator-numerics.md says of sums, on data whose sums
// are inexact.
//
//===----------------------------------------------------------------------===//

#include "MatrixData.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <set>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

struct Product {
  const char *mnemonic;
  unsigned size, k;
  Element a, b;
  const char *cpu = "gfx950";

  bool isSmall() const {
    return std::string(mnemonic).find("f8f6f4") != std::string::npos;
  }
  bool isScaled() const {
    return std::string(mnemonic).find("scale") != std::string::npos;
  }
};

class SimMfmaSum : public ::testing::TestWithParam<Product> {
protected:
  void SetUp() override {
    const Product &product = GetParam();
    std::mt19937 random(7);
    a = std::make_unique<MatrixData>(product.a, product.size, product.k,
                                     product.isSmall(), random);
    b = std::make_unique<MatrixData>(product.b, product.size, product.k,
                                     product.isSmall(), random);
    auto rowsA = a->registers(), rowsB = b->registers();
    // C, the same in all registers of a lane, and scales of -3 ... 3.
    c = lanes([&](unsigned) { return randomCode(Element::F32, random); });
    scales = lanes([&](unsigned) { return 124 + random() % 7; });
    program.inputs = rowsA;
    program.inputs.insert(program.inputs.end(), rowsB.begin(), rowsB.end());
    unsigned at = 10 + unsigned(program.inputs.size());
    program.inputs.push_back(c);
    program.inputs.push_back(scales);
    program.outputs = product.size * product.size / 64;
    for (unsigned v = 0; v < program.outputs; ++v) {
      program.instructions += "  v_mov_b32 v" + std::to_string(40 + v) + ", v" +
                              std::to_string(at) + "\n";
    }
    std::string d = registerRange(40, program.outputs);
    program.instructions +=
        "  s_nop 1\n  " + std::string(product.mnemonic) + " " + d + ", " +
        registerRange(10, unsigned(rowsA.size())) + ", " +
        registerRange(10 + unsigned(rowsA.size()), unsigned(rowsB.size())) +
        ", " + d;
    if (product.isScaled()) {
      std::string scale = ", v" + std::to_string(at + 1);
      program.instructions += scale + scale + " op_sel_hi:[0,0,0]";
    }
    if (product.isSmall()) {
      auto format = [](Element element) {
        return std::to_string(unsigned(element) - unsigned(Element::Fp8));
      };
      program.instructions +=
          " cbsz:" + format(product.a) + " blgp:" + format(product.b);
    }
    program.instructions += "\n  s_nop 15\n";
    program.options.cpu = product.cpu;
  }

  float scale(unsigned row, unsigned at) const {
    if (!GetParam().isScaled()) {
      return 1;
    }
    unsigned lane = at / 32 * GetParam().size + row;
    return std::ldexp(1.0f, int(scales[lane]) - 127);
  }

  LaneProgram program;
  std::unique_ptr<MatrixData> a, b;
  std::vector<uint32_t> c, scales;
};

/// A sum starts from C and takes the products by ascending K, each step fused.
TEST_P(SimMfmaSum, IsAChainOfFusedSteps) {
  const Product &product = GetParam();
  auto out = runLanes(program);
  for (unsigned v = 0; v < program.outputs; ++v) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned row = rowOfResult(product.size, v, lane);
      unsigned column = lane % product.size;
      float sum = floatOf(c[lane]);
      for (unsigned at = 0; at < product.k; ++at) {
        sum = std::fma(a->value(at, row) * scale(row, at),
                       b->value(at, column) * scale(column, at), sum);
      }
      ASSERT_EQ(floatOf(out[v][lane]), sum)
          << "register " << v << " lane " << lane;
    }
  }
}

/// A perturbed launch takes another order: results differ, are the same for
/// the same seed, and lie within what rounding allows any order.
TEST_P(SimMfmaSum, IsPerturbed) {
  const Product &product = GetParam();
  auto plain = runLanes(program);
  unsigned different = 0;
  std::set<std::vector<std::vector<uint32_t>>> results;
  for (uint64_t seed : {1, 2, 99, 1000}) {
    program.perturb = seed;
    auto out = runLanes(program);
    results.insert(out);
    EXPECT_TRUE(out == runLanes(program)) << seed;
    for (unsigned v = 0; v < program.outputs; ++v) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        unsigned row = rowOfResult(product.size, v, lane);
        unsigned column = lane % product.size;
        double sum = floatOf(c[lane]), magnitude = std::fabs(sum);
        for (unsigned at = 0; at < product.k; ++at) {
          double term = double(a->value(at, row)) * b->value(at, column) *
                        scale(row, at) * scale(column, at);
          sum += term;
          magnitude += std::fabs(term);
        }
        // k roundings of sums no larger than the sum of magnitudes.
        double bound = product.k * 0x1p-24 * magnitude * (1 + 0x1p-16);
        ASSERT_LE(std::fabs(floatOf(out[v][lane]) - sum), bound)
            << "register " << v << " lane " << lane;
        different += out[v][lane] != plain[v][lane];
      }
    }
  }
  // Two products have two orders, four 24, of which seeds may share one.
  EXPECT_GE(results.size(), product.k == 2 ? 2u : product.k == 4 ? 3u : 4u);
  EXPECT_GT(different, 64u);
}

INSTANTIATE_TEST_SUITE_P(
    Products, SimMfmaSum,
    ::testing::Values(
        Product{"v_mfma_f32_16x16x4_f32", 16, 4, Element::F32, Element::F32},
        Product{"v_mfma_f32_32x32x2_f32", 32, 2, Element::F32, Element::F32},
        Product{"v_mfma_f32_16x16x16_f16", 16, 16, Element::F16, Element::F16},
        Product{"v_mfma_f32_32x32x16_f16", 32, 16, Element::F16, Element::F16},
        Product{"v_mfma_f32_16x16x32_bf16", 16, 32, Element::Bf16,
                Element::Bf16},
        Product{"v_mfma_f32_32x32x8_bf16", 32, 8, Element::Bf16, Element::Bf16},
        Product{"v_mfma_f32_32x32x16_bf16", 32, 16, Element::Bf16,
                Element::Bf16},
        Product{"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, Element::Fp8,
                Element::Bf8},
        Product{"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, Element::Bf8,
                Element::Fp8},
        Product{"v_mfma_f32_16x16x128_f8f6f4", 16, 128, Element::Fp8,
                Element::Bf8},
        Product{"v_mfma_f32_32x32x64_f8f6f4", 32, 64, Element::Bf8,
                Element::Fp4},
        Product{"v_mfma_scale_f32_16x16x128_f8f6f4", 16, 128, Element::Fp4,
                Element::Fp8},
        Product{"v_mfma_scale_f32_16x16x128_f8f6f4", 16, 128, Element::Fp6,
                Element::Bf6},
        Product{"v_mfma_scale_f32_32x32x64_f8f6f4", 32, 64, Element::Fp8,
                Element::Fp8},
        Product{"v_mfma_scale_f32_32x32x64_f8f6f4", 32, 64, Element::Fp4,
                Element::Fp4}),
    [](const auto &info) {
      return std::string(info.param.mnemonic) + "_" +
             std::to_string(info.index);
    });

/// Integer sums are exact, so that no order changes them.
TEST(SimMfmaPerturb, IntegersStay) {
  std::mt19937 random(3);
  for (const char *mnemonic :
       {"v_mfma_i32_16x16x64_i8", "v_mfma_i32_32x32x32_i8"}) {
    LaneProgram program;
    for (unsigned i = 0; i < 8; ++i) {
      program.inputs.push_back(
          lanes([&](unsigned) { return uint32_t(random()); }));
    }
    program.outputs = mnemonic[11] == '1' ? 4 : 16; // v_mfma_i32_16x16...
    program.instructions = "  " + std::string(mnemonic) + " " +
                           registerRange(40, program.outputs) +
                           ", v[10:13], v[14:17], 0\n  s_nop 15\n";
    auto plain = runLanes(program);
    program.perturb = 11;
    EXPECT_TRUE(runLanes(program) == plain) << mnemonic;
  }
}

/// Double precision and sparse products are perturbed too.
TEST(SimMfmaPerturb, DoublesAndSparseProducts) {
  std::mt19937 random(5);
  LaneProgram program;
  for (unsigned i = 0; i < 8; ++i) {
    program.inputs.push_back(lanes([&](unsigned) {
      // The upper half of a double near one, or two halves near one.
      return i < 4 ? 0x3FE00000 + uint32_t(random() % 0x00400000)
                   : 0x3C003C00 | (uint32_t(random()) & 0x03FF03FF);
    }));
  }
  program.inputs.push_back(lanes([](unsigned) { return 0x98989898u; }));
  program.outputs = 12;
  program.instructions =
      "  v_mov_b32 v48, 1.0\n  v_mov_b32 v49, 1.0\n  v_mov_b32 v50, 1.0\n"
      "  v_mov_b32 v51, 1.0\n  s_nop 1\n"
      "  v_mfma_f64_16x16x4_f64 v[40:47], v[10:11], v[12:13], 0\n"
      "  v_smfmac_f32_16x16x32_f16 v[48:51], v[14:15], v[14:17], v18\n"
      "  s_nop 15\n  s_nop 3\n";
  auto plain = runLanes(program);
  program.perturb = 21;
  auto out = runLanes(program);
  EXPECT_TRUE(out == runLanes(program));
  unsigned doubles = 0, singles = 0;
  for (unsigned v = 0; v < 4; ++v) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      auto value = [&](const auto &rows) {
        return std::bit_cast<double>(rows[2 * v][lane] |
                                     uint64_t(rows[2 * v + 1][lane]) << 32);
      };
      double was = value(plain), is = value(out);
      // Four positive products: four roundings either way.
      EXPECT_LE(std::fabs(is - was), 8 * 0x1p-53 * was);
      doubles += is != was;
      float before = floatOf(plain[8 + v][lane]);
      float after = floatOf(out[8 + v][lane]);
      // Sixteen products below four.
      EXPECT_LE(std::fabs(after - before), 2 * 16 * 0x1p-24 * 65);
      singles += after != before;
    }
  }
  EXPECT_GT(doubles, 32u);
  EXPECT_GT(singles, 32u);
}

/// What becomes of a sum depends on the seed and the instruction, not on the
/// host's threads or the order of workgroups.
TEST(SimMfmaPerturb, DoesNotDependOnThreads) {
  std::shared_ptr<const CodeObject> object = loadObject(assemble(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_cvt_f32_u32 v10, v0
  v_rcp_f32 v10, v10
  v_cvt_f32_u32 v11, s2
  s_nop 0
  v_add_f32 v11, v11, v10
  v_mov_b32 v12, v10
  v_mov_b32 v13, v11
  s_nop 1
  v_mfma_f32_16x16x32_bf16 v[20:23], v[10:13], v[10:13], 0
  v_lshlrev_b32 v1, 4, v0
  v_lshl_add_u32 v1, s2, 10, v1
  s_waitcnt lgkmcnt(0)
  s_nop 7
  global_store_dwordx4 v1, v[20:23], s[4:5]
)"));
  auto run = [&](unsigned threads, std::optional<uint64_t> order) {
    constexpr unsigned groups = 23, bytes = groups * 1024;
    Device device;
    LaunchConfig config;
    config.grid = {groups, 1, 1};
    config.block = {64, 1, 1};
    config.numThreads = threads;
    config.workgroupOrder = order;
    config.perturb = 12;
    uint64_t out = llvm::cantFail(device.memory().allocate(bytes));
    config.setArg(0, out);
    llvm::cantFail(device.launch(object->kernels()[0], config));
    std::vector<uint8_t> result(bytes);
    llvm::cantFail(device.memory().read(out, result));
    return result;
  };
  auto one = run(1, std::nullopt);
  EXPECT_TRUE(one == run(3, std::nullopt));
  EXPECT_TRUE(one == run(2, 77));
}

} // namespace
