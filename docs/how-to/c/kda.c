/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * KDA in C: a sequence of 100 tokens at once, and again as 99 tokens and a
 * decode step of the last one, which has to give the same.
 *
 *   kda BUNDLE [DEVICE]
 */
#include <tenon-c/tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, SIZE = 128, WIDTH = HEADS * SIZE, TOKENS = 100, SLOTS = 3 };

static void require(tenon_status status) {
  if (status != TENON_OK) {
    fprintf(stderr, "kda: %s\n", tenon_last_error());
    exit(1);
  }
}

/* A number in [-1, 1), of a fixed sequence. */
static float number(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(int32_t)state / 2147483648.0f;
}

static float fromBf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return value;
}

/* An array on the device, of random numbers or of zeros. */
static void *makeArray(tenon_device *device, tenon_dtype dtype, size_t count,
                       int isRandom) {
  size_t bytes = count * (dtype == TENON_BF16 ? 2 : 4);
  char *host = calloc(1, bytes);
  for (size_t i = 0; isRandom && i < count; ++i) {
    float value = number();
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint16_t upper = (uint16_t)(bits >> 16);
    if (dtype == TENON_BF16) {
      memcpy(host + 2 * i, &upper, 2);
    } else {
      memcpy(host + 4 * i, &bits, 4);
    }
  }
  void *array;
  require(tenon_device_allocate(device, bytes, &array));
  require(tenon_device_copy(device, array, host, bytes, NULL));
  free(host);
  return array;
}

static void *makeIntegers(tenon_device *device, const int32_t *values,
                          size_t count) {
  void *array;
  require(tenon_device_allocate(device, 4 * count, &array));
  require(tenon_device_copy(device, array, values, 4 * count, NULL));
  return array;
}

/* The arrays that prefill and decode share. */
struct model {
  char *qkv, *raw_g, *raw_beta, *out_gate;
  void *conv_weight, *a_log, *dt_bias, *norm_weight, *conv_state, *state;
};

/* Adds an operand; they are in the order of the contract. */
static void add(tenon_launch_arguments *arguments, tenon_tensor *operands,
                void *data, tenon_dtype dtype, const int64_t *sizes,
                uint32_t rank) {
  tenon_tensor operand = {data, dtype, rank, sizes, NULL, NULL};
  operands[arguments->operand_count++] = operand;
}

/* Sets the operands in front of cu_seqlens and slot, for `rows` tokens from
 * the token `first` on. `sizes` holds what the operands point to. */
static void addCommon(tenon_launch_arguments *arguments, tenon_tensor *operands,
                      int64_t sizes[4][2], const struct model *model,
                      int64_t first, int64_t rows) {
  static const int64_t convWeight[2] = {3 * WIDTH, 4}, heads[1] = {HEADS},
                       width[1] = {WIDTH}, head[1] = {SIZE};
  static const int64_t history[3] = {SLOTS, 3, 3 * WIDTH},
                       state[4] = {SLOTS, HEADS, SIZE, SIZE};
  const int64_t columns[4] = {3 * WIDTH, WIDTH, HEADS, WIDTH};
  char *arrays[4] = {model->qkv, model->raw_g, model->raw_beta,
                     model->out_gate};
  memset(arguments, 0, sizeof(*arguments));
  arguments->struct_bytes = sizeof(*arguments);
  arguments->operands = operands;
  for (int i = 0; i < 4; ++i) {
    sizes[i][0] = rows;
    sizes[i][1] = columns[i];
    add(arguments, operands, arrays[i] + first * columns[i] * 2, TENON_BF16,
        sizes[i], 2);
  }
  add(arguments, operands, model->conv_weight, TENON_F32, convWeight, 2);
  add(arguments, operands, model->a_log, TENON_F32, heads, 1);
  add(arguments, operands, model->dt_bias, TENON_F32, width, 1);
  add(arguments, operands, model->norm_weight, TENON_F32, head, 1);
  add(arguments, operands, model->conv_state, TENON_BF16, history, 3);
  add(arguments, operands, model->state, TENON_F32, state, 4);
}

/* The first `tokens` tokens as one sequence, whose state goes to `slot`. */
static void prefill(tenon_device *device, tenon_kernel *kernel,
                    const struct model *model, int32_t tokens, int32_t slot,
                    void *out) {
  const int32_t lengths[2] = {0, tokens};
  const int64_t two[1] = {2}, one[1] = {1}, outSizes[2] = {tokens, WIDTH};
  const int64_t maxSeqLen = tokens;
  int64_t sizes[4][2];
  tenon_tensor operands[13];
  tenon_launch_arguments arguments;
  void *cuSeqlens = makeIntegers(device, lengths, 2);
  void *slots = makeIntegers(device, &slot, 1);
  addCommon(&arguments, operands, sizes, model, 0, tokens);
  add(&arguments, operands, cuSeqlens, TENON_I32, two, 1);
  add(&arguments, operands, slots, TENON_I32, one, 1);
  add(&arguments, operands, out, TENON_BF16, outSizes, 2);
  arguments.scalars = &maxSeqLen;
  arguments.scalar_count = 1;

  tenon_workspace needed;
  require(tenon_kernel_workspace(kernel, &arguments, &needed));
  printf("%d tokens: %llu bytes of workspace\n", tokens,
         (unsigned long long)needed.bytes);
  require(tenon_device_allocate(device, needed.bytes, &arguments.workspace));
  arguments.workspace_bytes = needed.bytes;
  require(tenon_launch(kernel, &arguments));
  require(tenon_device_synchronize(device, NULL));
  require(tenon_device_free(device, arguments.workspace));
  require(tenon_device_free(device, cuSeqlens));
  require(tenon_device_free(device, slots));
}

/* The token `token`, with the state in `slot`. */
static void decode(tenon_device *device, tenon_kernel *kernel,
                   const struct model *model, int64_t token, int32_t slot,
                   void *out) {
  const int64_t one[1] = {1}, outSizes[2] = {1, WIDTH};
  int64_t sizes[4][2];
  tenon_tensor operands[12];
  tenon_launch_arguments arguments;
  void *slots = makeIntegers(device, &slot, 1);
  addCommon(&arguments, operands, sizes, model, token, 1);
  add(&arguments, operands, slots, TENON_I32, one, 1);
  add(&arguments, operands, out, TENON_BF16, outSizes, 2);
  require(tenon_launch(kernel, &arguments));
  require(tenon_device_synchronize(device, NULL));
  require(tenon_device_free(device, slots));
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: kda BUNDLE [DEVICE]\n");
    return 2;
  }
  tenon_runtime_options options = {sizeof(options), TENON_JIT_FORBID, NULL, ""};
  tenon_runtime *runtime;
  tenon_device *device;
  tenon_kernel *prefillKernel, *decodeKernel;
  uint64_t modules;
  require(tenon_runtime_create(&options, &runtime));
  require(tenon_bundle_load(runtime, argv[1], NULL));
  require(tenon_device_open(runtime, argc > 2 ? argv[2] : "sim", &device));
  require(tenon_preload(device, &modules));
  printf("%llu modules on %s\n", (unsigned long long)modules,
         tenon_device_target(device));
  require(tenon_kernel_get(device, "kda_prefill", "H=2", &prefillKernel));
  require(tenon_kernel_get(device, "kda_decode", "H=2", &decodeKernel));

  struct model model;
  model.qkv = makeArray(device, TENON_BF16, TOKENS * 3 * WIDTH, 1);
  model.raw_g = makeArray(device, TENON_BF16, TOKENS * WIDTH, 1);
  model.raw_beta = makeArray(device, TENON_BF16, TOKENS * HEADS, 1);
  model.out_gate = makeArray(device, TENON_BF16, TOKENS * WIDTH, 1);
  model.conv_weight = makeArray(device, TENON_F32, 3 * WIDTH * 4, 1);
  model.a_log = makeArray(device, TENON_F32, HEADS, 1);
  model.dt_bias = makeArray(device, TENON_F32, WIDTH, 1);
  model.norm_weight = makeArray(device, TENON_F32, SIZE, 1);
  model.conv_state = makeArray(device, TENON_BF16, SLOTS * 3 * 3 * WIDTH, 0);
  model.state = makeArray(device, TENON_F32, SLOTS * WIDTH * SIZE, 0);
  char *whole = makeArray(device, TENON_BF16, TOKENS * WIDTH, 0);
  char *parts = makeArray(device, TENON_BF16, TOKENS * WIDTH, 0);

  /* Slot 0 stands for padding. */
  prefill(device, prefillKernel, &model, TOKENS, 1, whole);
  prefill(device, prefillKernel, &model, TOKENS - 1, 2, parts);
  char *last = parts + (TOKENS - 1) * WIDTH * 2;
  decode(device, decodeKernel, &model, TOKENS - 1, 2, last);

  uint16_t expected[WIDTH], found[WIDTH];
  float largest = 0, difference = 0;
  require(tenon_device_copy(device, expected, whole + (last - parts),
                            sizeof(expected), NULL));
  require(tenon_device_copy(device, found, last, sizeof(found), NULL));
  for (int i = 0; i < WIDTH; ++i) {
    float value = fromBf16(expected[i]);
    largest = fmaxf(largest, fabsf(value));
    difference = fmaxf(difference, fabsf(fromBf16(found[i]) - value));
  }
  /* What prefill rounds to bf16 differs by parts of 2^-8. */
  int agree = largest > 0 && difference <= 0.016f * largest;
  printf("the decode step %s with prefill\n", agree ? "agrees" : "disagrees");
  tenon_runtime_destroy(runtime);
  return agree ? 0 : 1;
}
