/*===- tenon.h - the C interface of the runtime ------------------*- C -*-===*\
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* How it is meant:
|*
|*   tenon_runtime *runtime;
|*   tenon_device *device;
|*   tenon_kernel *kernel;
|*   tenon_runtime_create(NULL, &runtime);
|*   tenon_bundle_load(runtime, "kimi_k3_tp8.tenon", NULL);
|*   tenon_device_open(runtime, "hip:0", &device);       // or "sim", or "null"
|*   tenon_preload(device, NULL);                        // before graph capture
|*   tenon_kernel_get(device, "kda_decode", "H=12", &kernel);
|*   ...
|*   tenon_launch(kernel, &arguments);                   // on any stream
|*
|* One runtime serves a process; tests may make several. A kernel stands for an
|* op with its static parameters (`tenon ops NAME` lists them) on a device; the
|* sizes of a call choose among the schedules that were built for it. Its
|* operands and scalars are those of the op's contract, in the order in which
|* tenon_kernel_operand and tenon_kernel_scalar list them.
|*
|* Every function that can fail returns a tenon_status, and leaves a message for
|* the calling thread in tenon_last_error. All functions may be called from any
|* thread; no C++ exception leaves them. tenon_launch allocates no memory once a
|* thread has made one launch, waits for nothing, and may be captured into a
|* graph when the kernel's module is loaded (tenon_preload).
|*
|* What a minor release may change: docs/reference/compatibility.md.
\*===----------------------------------------------------------------------===*/

#ifndef TENON_C_TENON_H
#define TENON_C_TENON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_API __attribute__((visibility("default")))

typedef enum tenon_status {
  TENON_OK = 0,
  /** An argument, operand, name or option is wrong. */
  TENON_INVALID_ARGUMENT = 1,
  /** There is no kernel for this key, and none may be compiled. */
  TENON_NOT_FOUND = 2,
  /** A bundle cannot be read, or is refused. */
  TENON_BAD_BUNDLE = 3,
  /** The compiler is missing, failed, crashed or was killed. */
  TENON_COMPILE_FAILED = 4,
  /** There is no such device, or it failed. */
  TENON_DEVICE_ERROR = 5,
  /** A kernel that is not loaded was launched on a stream that is captured. */
  TENON_NOT_LOADED = 6,
  /** Memory ran out, or Tenon has a bug. */
  TENON_INTERNAL_ERROR = 7
} tenon_status;

/** The message of the last call of this thread that failed; "" before the first
 * one. Valid until the next call of this thread fails. */
TENON_API const char *tenon_last_error(void);

/** The version of the library, "0.1.0". */
TENON_API const char *tenon_version(void);

typedef struct tenon_runtime tenon_runtime;
typedef struct tenon_device tenon_device;
typedef struct tenon_kernel tenon_kernel;

/*===----------------------------------------------------------------------===*\
|* Runtime
\*===----------------------------------------------------------------------===*/

/** What happens when a kernel is in no bundle. */
typedef enum tenon_jit {
  /** It is taken from the disk cache or compiled, with a line on standard
   * error. */
  TENON_JIT_WARN = 0,
  /** The same without the line. */
  TENON_JIT_ALLOW = 1,
  /** It is an error that names the command which builds the kernel. */
  TENON_JIT_FORBID = 2
} tenon_jit;

typedef struct tenon_runtime_options {
  size_t struct_bytes; /**< sizeof(tenon_runtime_options) */
  tenon_jit jit;
  /** The compiler's path; NULL: `tenon` on the PATH. */
  const char *compiler;
  /** The disk cache's folder; NULL: TENON_CACHE_DIR, else the user's cache
   * folder. "" for none. */
  const char *cache_folder;
} tenon_runtime_options;

/** Makes a runtime; `options` may be NULL. Touches no device. */
TENON_API tenon_status tenon_runtime_create(
    const tenon_runtime_options *options, tenon_runtime **runtime);

/** Ends a runtime, its devices and its kernels. No other thread may use them,
 * and what was launched must have ended. */
TENON_API void tenon_runtime_destroy(tenon_runtime *runtime);

/** Opens a bundle for all devices of the runtime. `sha256` (hexadecimal, or
 * NULL) pins the content of the file. Reads the index alone; kernels are read,
 * and verified, when they are first used. Of bundles that hold the same kernel
 * the first serves. */
TENON_API tenon_status tenon_bundle_load(tenon_runtime *runtime,
                                         const char *path, const char *sha256);

/*===----------------------------------------------------------------------===*\
|* Devices
\*===----------------------------------------------------------------------===*/

/** Opens "hip" or "hip:INDEX" (a GPU), "sim" or "sim:CHIP" (the simulator, in
 * libtenon_sim.so), "null" or "null:CHIP" (launches nothing: what is left is
 * overhead). On the simulator device memory is memory of the process: operands
 * may be any arrays, and a launch has run to its end when it returns; faults
 * that it finds in a kernel (races, accesses outside of operands) are errors of
 * the launch. */
TENON_API tenon_status tenon_device_open(tenon_runtime *runtime,
                                         const char *name,
                                         tenon_device **device);

/** "hip:0", "sim" or "null". */
TENON_API const char *tenon_device_name(const tenon_device *device);
/** The chip that kernels are taken for: "gfx950". */
TENON_API const char *tenon_device_target(const tenon_device *device);

/** Memory of the device, aligned to 256 bytes. */
TENON_API tenon_status tenon_device_allocate(tenon_device *device,
                                             uint64_t bytes, void **address);
TENON_API tenon_status tenon_device_free(tenon_device *device, void *address);

/** Copies in either direction, behind what is enqueued on `stream`, and waits.
 */
TENON_API tenon_status tenon_device_copy(tenon_device *device, void *to,
                                         const void *from, uint64_t bytes,
                                         void *stream);
/** Fills with zero bytes, behind what is enqueued on `stream`. */
TENON_API tenon_status tenon_device_zero(tenon_device *device, void *address,
                                         uint64_t bytes, void *stream);
TENON_API tenon_status tenon_device_synchronize(tenon_device *device,
                                                void *stream);

/** Loads every kernel for the device's chip that the bundles hold. `count`, if
 * not NULL, receives the number of modules that are loaded. */
TENON_API tenon_status tenon_preload(tenon_device *device, uint64_t *count);

/*===----------------------------------------------------------------------===*\
|* Kernels
\*===----------------------------------------------------------------------===*/

/** The kernel of `op` with the static parameters `statics`: "H=12,gate=bounded"
 * in any order, those that are left out at their defaults; NULL: all of them. A
 * parameter that only chooses a schedule ("expected_tokens") may be among them:
 * the kernel then has that schedule whatever the sizes are. Looked up without a
 * lock when the same text was asked for before. Lives as long as the runtime.
 */
TENON_API tenon_status tenon_kernel_get(tenon_device *device, const char *op,
                                        const char *statics,
                                        tenon_kernel **kernel);

/** "kda_decode(H=12,D=128,...)". */
TENON_API const char *tenon_kernel_name(const tenon_kernel *kernel);

typedef enum tenon_dtype {
  TENON_F32 = 1,
  TENON_F16 = 2,
  TENON_BF16 = 3,
  TENON_F8E4M3 = 4, /**< OCP, with NaN and without infinities */
  TENON_F8E5M2 = 5,
  TENON_F8E8M0 = 6, /**< scales of blocks */
  TENON_F4E2M1 = 7, /**< two in a byte, the first in the low bits */
  TENON_I8 = 8,
  TENON_U8 = 9,
  TENON_I32 = 10,
  TENON_I64 = 11,
  TENON_BOOL = 12,
  TENON_F64 = 13,
  TENON_I16 = 14
} tenon_dtype;

/** An operand of a call. Sizes and strides count elements, outermost first.
 * TENON_U8 is taken for all types of 8 bits, and for TENON_F4E2M1 with bytes as
 * elements (half the innermost size); TENON_BOOL for TENON_I8. */
typedef struct tenon_tensor {
  void *data; /**< of the device */
  tenon_dtype dtype;
  uint32_t rank;
  const int64_t *sizes;
  const int64_t *strides; /**< NULL: dense, the innermost dimension last */
  /** The order of reordered elements, such as "packed"; NULL: none. Sizes and
   * strides are those of the row-major form, the bytes those of
   * tenon_kernel_operand_bytes. */
  const char *layout;
} tenon_tensor;

typedef enum tenon_access {
  TENON_READ = 1,
  TENON_WRITE = 2,
  TENON_READ_WRITE = 3
} tenon_access;

/** What a kernel expects of an operand. */
typedef struct tenon_operand {
  const char *name;
  tenon_dtype dtype;
  tenon_access access;
  uint32_t rank;
  const int64_t *sizes;       /**< -1 where it varies from call to call */
  const char *const *symbols; /**< the name of a size that varies, else "" */
  const char *layout;         /**< "" when elements are not reordered */
} tenon_operand;

TENON_API uint32_t tenon_kernel_operand_count(const tenon_kernel *kernel);
/** Fills `operand`; its texts live as long as the kernel. */
TENON_API tenon_status tenon_kernel_operand(const tenon_kernel *kernel,
                                            uint32_t index,
                                            tenon_operand *operand);
/** The bytes from an operand's address on that it takes with these sizes and
 * strides (NULL: dense). */
TENON_API tenon_status tenon_kernel_operand_bytes(const tenon_kernel *kernel,
                                                  uint32_t index,
                                                  const int64_t *sizes,
                                                  const int64_t *strides,
                                                  uint64_t *bytes);

/** Integers that come with a call, such as a range of rows. */
TENON_API uint32_t tenon_kernel_scalar_count(const tenon_kernel *kernel);
/** NULL when there is no such scalar. */
TENON_API const char *tenon_kernel_scalar(const tenon_kernel *kernel,
                                          uint32_t index);

/** Memory that the caller provides for the time of a launch. Several launches
 * may use the same when they run one after the other. */
typedef struct tenon_workspace {
  uint64_t bytes; /**< of any content, aligned to 256 bytes */
  /** Holds zeros before the first launch; launches leave zeros. */
  uint64_t zeroed_bytes;
} tenon_workspace;

typedef struct tenon_launch_arguments {
  size_t struct_bytes; /**< sizeof(tenon_launch_arguments) */
  const tenon_tensor *operands;
  uint32_t operand_count;
  const int64_t *scalars;
  uint32_t scalar_count;
  void *workspace;
  uint64_t workspace_bytes;
  void *zeroed_workspace;
  uint64_t zeroed_workspace_bytes;
  void *stream; /**< hipStream_t; NULL: the default one */
} tenon_launch_arguments;

/** The workspace that a launch with these arguments needs; of `operands` the
 * addresses, and of `arguments` workspace and stream do not matter. */
TENON_API tenon_status tenon_kernel_workspace(
    tenon_kernel *kernel, const tenon_launch_arguments *arguments,
    tenon_workspace *workspace);

/** The largest value that calls bring for a size that varies, by its symbol, or
 * for a scalar. */
typedef struct tenon_bound {
  const char *symbol;
  int64_t size;
} tenon_bound;

/** Workspace that is enough for every call within the bounds, whatever schedule
 * it takes. */
TENON_API tenon_status tenon_kernel_max_workspace(tenon_kernel *kernel,
                                                  const tenon_bound *bounds,
                                                  uint32_t bound_count,
                                                  tenon_workspace *workspace);

/** Checks the operands and enqueues the launches of the op on the stream. */
TENON_API tenon_status tenon_launch(tenon_kernel *kernel,
                                    const tenon_launch_arguments *arguments);

/*===----------------------------------------------------------------------===*\
|* Weights of experts
\*===----------------------------------------------------------------------===*/

/** Told after each expert: `done` of `count` are packed. */
typedef void (*tenon_packing_callback)(void *context, int64_t done,
                                       int64_t count);

/** The weights of experts as a checkpoint has them, and where they are packed
 * to: on the host what the op moe_pack does on a device. All memory is that of
 * the host. */
typedef struct tenon_expert_packing {
  size_t struct_bytes; /**< sizeof(tenon_expert_packing) */
  int64_t experts;
  int64_t rows;  /**< N: 2I of w13, D of w2 */
  int64_t depth; /**< K: D of w13, I of w2 */
  /** "packed", "aiter" or "aiter_interleaved"; NULL: "packed". */
  const char *order;
  /** Not 0: rows of gate and of up alternate in the checkpoint. */
  int interleaved;
  const void *weights; /**< u8 [experts, rows, depth / 2], two FP4 a byte */
  const void *scales;  /**< u8 [experts, rows, depth / 32], E8M0 */
  /** Bytes from expert to expert; 0: they follow each other without gaps. */
  int64_t weights_stride, scales_stride;
  /** Of as many bytes as tenon_expert_packed_bytes tells. Each may be weights
   * or scales themselves where experts have no gaps and nothing is filled up:
   * an expert is copied before it is written. What fills up is 0. */
  void *packed, *packed_scales;
  tenon_packing_callback progress; /**< NULL: none */
  void *context;
} tenon_expert_packing;

/** The bytes of the packed weights and scales of all experts; of `packing` the
 * addresses and strides do not matter. */
TENON_API tenon_status tenon_expert_packed_bytes(
    const tenon_expert_packing *packing, uint64_t *weights, uint64_t *scales);

/** Packs experts, one after the other. Takes memory for the weights of one
 * besides. Other threads may pack other experts meanwhile. */
TENON_API tenon_status tenon_expert_pack(const tenon_expert_packing *packing);

/*===----------------------------------------------------------------------===*\
|* Compiling ahead, and what an engine watches
\*===----------------------------------------------------------------------===*/

/** Called for every key of tenon_compile_keys: static parameters and schedule
 * choices, as tenon_kernel_get and tenon_compile_only take them. */
typedef void (*tenon_key_callback)(void *context, const char *settings);

/** The keys of `op` with `statics`: one per bucket of sizes that schedules are
 * chosen for. Needs no device. */
TENON_API tenon_status tenon_compile_keys(tenon_runtime *runtime,
                                          const char *op, const char *statics,
                                          tenon_key_callback callback,
                                          void *context);

/** Has the kernel of a key ready for devices of the chip `target`: from a
 * bundle, the disk cache or the compiler, also with TENON_JIT_FORBID. Kernels
 * that tenon_kernel_get returned before do not gain it. */
TENON_API tenon_status tenon_compile_only(tenon_runtime *runtime,
                                          const char *target, const char *op,
                                          const char *settings);

/** Called before every compile, by the thread that needs it. It must not call
 * functions of this runtime. */
typedef void (*tenon_compile_callback)(void *context, const char *op,
                                       const char *settings,
                                       const char *target);
/** Sets the callback; NULL: none. */
TENON_API void tenon_on_compile(tenon_runtime *runtime,
                                tenon_compile_callback callback, void *context);

typedef struct tenon_counters {
  uint64_t launches;
  uint64_t bucket_misses; /**< launches with the nearest schedule */
  uint64_t static_misses; /**< kernels that no bundle held */
  uint64_t cache_hits;    /**< of these, found in the disk cache */
  uint64_t compiles;      /**< of these, compiled by this process */
  uint64_t modules;       /**< loaded */
  double compile_seconds;
} tenon_counters;

TENON_API void tenon_get_counters(tenon_runtime *runtime,
                                  tenon_counters *counters);

/** The counters in the text format of Prometheus, ending with a null byte, into
 * `text` of `capacity` bytes; returns the bytes that all of it takes, the null
 * byte included. */
TENON_API size_t tenon_prometheus(tenon_runtime *runtime, char *text,
                                  size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* TENON_C_TENON_H */
