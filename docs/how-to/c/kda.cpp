// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// KDA in C++: a sequence of 100 tokens at once, and again as 99 tokens and a
// decode step of the last one, which has to give the same.
//
//   kda BUNDLE [DEVICE]
//
#include <tenon-c/tenon.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

constexpr int64_t heads = 2, size = 128, width = heads * size, tokens = 100,
                  slots = 3;

static float fromBf16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

template <typename T>
static tenon::Memory upload(tenon::Device device,
                            const std::vector<T> &values) {
  tenon::Memory memory(device, values.size() * sizeof(T));
  device.copy(memory.data(), values.data(), memory.bytes());
  return memory;
}

static std::vector<float> randomNumbers(size_t count) {
  static std::mt19937 generator(1);
  std::uniform_real_distribution<float> numbers(-1, 1);
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(),
                [&] { return numbers(generator); });
  return values;
}

static std::vector<uint16_t> randomBf16(size_t count) {
  std::vector<uint16_t> values;
  for (float value : randomNumbers(count)) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    values.push_back(uint16_t(bits >> 16));
  }
  return values;
}

/// The arrays that prefill and decode share.
struct Model {
  tenon::Device device;
  tenon::Memory qkv = upload(device, randomBf16(tokens * 3 * width));
  tenon::Memory rawG = upload(device, randomBf16(tokens *width));
  tenon::Memory rawBeta = upload(device, randomBf16(tokens *heads));
  tenon::Memory outGate = upload(device, randomBf16(tokens *width));
  tenon::Memory convWeight = upload(device, randomNumbers(3 * width * 4));
  tenon::Memory aLog = upload(device, randomNumbers(heads));
  tenon::Memory dtBias = upload(device, randomNumbers(width));
  tenon::Memory normWeight = upload(device, randomNumbers(size));
  tenon::Memory convState =
      upload(device, std::vector<uint16_t>(slots * 3 * 3 * width));
  tenon::Memory state =
      upload(device, std::vector<float>(slots * width * size));
  tenon::Memory out = upload(device, std::vector<uint16_t>(tokens *width));

  /// Sets what the calls have in common, for \p rows tokens from \p first on.
  void describe(tenon::Call &call, int64_t first, int64_t rows) const {
    auto row = [&](const tenon::Memory &array, int64_t columns) {
      return static_cast<uint16_t *>(array.data()) + first * columns;
    };
    call.operand("qkv", row(qkv, 3 * width), {rows, 3 * width})
        .operand("raw_g", row(rawG, width), {rows, heads * size})
        .operand("raw_beta", row(rawBeta, heads), {rows, heads})
        .operand("out_gate", row(outGate, width), {rows, heads * size})
        .operand("conv_weight", convWeight.data(), {3 * width, 4})
        .operand("a_log", aLog.data(), {heads})
        .operand("dt_bias", dtBias.data(), {width})
        .operand("norm_weight", normWeight.data(), {size})
        .operand("conv_state", convState.data(), {slots, 3, 3 * width})
        .operand("state", state.data(), {slots, heads, size, size})
        .operand("out", row(out, width), {rows, width});
  }

  /// The first \p count tokens as one sequence, whose state goes to \p slot.
  void prefill(const tenon::Kernel &kernel, int32_t count, int32_t slot) {
    tenon::Memory lengths = upload<int32_t>(device, {0, count});
    tenon::Memory slotOf = upload<int32_t>(device, {slot});
    tenon::Call call(kernel);
    describe(call, 0, count);
    call.operand("cu_seqlens", lengths.data(), {2})
        .operand("slot", slotOf.data(), {1})
        .scalar("max_seq_len", count);
    tenon::Memory workspace(device, call.needed().bytes);
    call.workspace(workspace).launch();
    device.synchronize();
  }

  /// The token \p token, with the state in \p slot.
  void decode(const tenon::Kernel &kernel, int64_t token, int32_t slot) {
    tenon::Memory slotOf = upload<int32_t>(device, {slot});
    tenon::Call call(kernel);
    describe(call, token, 1);
    call.operand("slot", slotOf.data(), {1}).launch();
    device.synchronize();
  }

  /// The row of out of the last token.
  std::vector<float> last() {
    std::vector<uint16_t> bits(width);
    device.copy(bits.data(),
                static_cast<uint16_t *>(out.data()) + (tokens - 1) * width,
                2 * width);
    std::vector<float> values;
    std::transform(bits.begin(), bits.end(), std::back_inserter(values),
                   fromBf16);
    return values;
  }
};

static int run(const char *bundle, const char *name) {
  tenon::RuntimeOptions options;
  options.jit = TENON_JIT_FORBID;
  tenon::Runtime runtime(options);
  runtime.load(bundle);
  tenon::Device device(runtime, name);
  unsigned long long modules = device.preload();
  std::printf("%llu modules on %s\n", modules, device.target());
  tenon::Kernel prefill(device, "kda_prefill", "H=2");
  tenon::Kernel decode(device, "kda_decode", "H=2");

  // Slot 0 stands for padding.
  Model model{device};
  model.prefill(prefill, tokens, 1);
  std::vector<float> expected = model.last();
  model.prefill(prefill, tokens - 1, 2);
  model.decode(decode, tokens - 1, 2);
  std::vector<float> found = model.last();

  float largest = 0, difference = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    difference = std::max(difference, std::fabs(found[i] - expected[i]));
  }
  // What prefill rounds to bf16 differs by parts of 2^-8.
  bool agree = largest > 0 && difference <= 0.016f * largest;
  std::printf("the decode step %s with prefill\n",
              agree ? "agrees" : "disagrees");
  return agree ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: kda BUNDLE [DEVICE]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2 ? argv[2] : "sim");
  } catch (const tenon::Error &error) {
    std::fprintf(stderr, "kda: %s\n", error.what());
    return 1;
  }
}
