//===- Kernel.cpp - launching a kernel --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernel.h"

#include "Buckets.h"
#include "Counters.h"
#include "Failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <cmath>
#include <limits>

namespace tenon::runtime {

/// The work of one call. Each thread uses its own again and again, so that a
/// launch allocates nothing.
struct Kernel::Call {
  std::vector<OperandArgument> operands;
  std::vector<int64_t> numbers; ///< sizes and strides that the caller left out
  Evaluation evaluation;
  std::vector<uint64_t> workspaces;
  std::vector<PointerArgument> pointers;
  std::vector<uint64_t> addresses;
  Variant *variant = nullptr;
  bool isBucketMiss = false;
};

/// The last call of a kernel by a thread. In serving, call after call has the
/// same sizes: what follows from them is kept, and addresses alone are new.
struct Kernel::Memo {
  uint64_t kernel = 0;      ///< its serial; 0: none
  std::vector<int64_t> key; ///< of which `length` are used
  size_t length = 0;
  unsigned misses = 0; ///< calls in a row that were not like the last
  Call call;

  /// Whether \p arguments are like the call's in all but addresses.
  bool matches(const tenon_launch_arguments &arguments) const;
  /// Remembers them.
  void remember(const tenon_launch_arguments &arguments);
};

/// Visits what the launches of a call depend on but for addresses, until
/// \p visit says no.
template <typename Visit>
static bool visitKey(const tenon_launch_arguments &arguments, Visit visit) {
  if (!visit(int64_t(arguments.operand_count) << 32 | arguments.scalar_count)) {
    return false;
  }
  for (uint32_t i = 0; i < arguments.operand_count; ++i) {
    const tenon_tensor &tensor = arguments.operands[i];
    int64_t form = int64_t(tensor.rank) << 16 | int64_t(tensor.dtype) << 1 |
                   (tensor.strides != nullptr);
    if (!visit(form)) {
      return false;
    }
    for (uint32_t dim = 0; dim < tensor.rank; ++dim) {
      if (!visit(tensor.sizes[dim]) ||
          (tensor.strides && !visit(tensor.strides[dim]))) {
        return false;
      }
    }
    // Names of orders are short; the end is part of the key.
    for (const char *at = tensor.layout; at && *at; ++at) {
      if (!visit(*at)) {
        return false;
      }
    }
    if (!visit(-1)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < arguments.scalar_count; ++i) {
    if (!visit(arguments.scalars[i])) {
      return false;
    }
  }
  return true;
}

bool Kernel::Memo::matches(const tenon_launch_arguments &arguments) const {
  const int64_t *at = key.data(), *end = at + length;
  return visitKey(arguments,
                  [&](int64_t value) { return at != end && *at++ == value; }) &&
         at == end;
}

void Kernel::Memo::remember(const tenon_launch_arguments &arguments) {
  // Every launch of another shape comes here: nothing is cleared.
  size_t count = 0;
  visitKey(arguments, [&](int64_t value) {
    if (count == key.size()) {
      key.resize(2 * count + 64);
    }
    key[count++] = value;
    return true;
  });
  length = count;
}

static uint64_t nextSerial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Kernel::Kernel(Device &device, Counters &counters, KernelKey key)
    : device(device), counters(counters), key(std::move(key)),
      serial(nextSerial()) {}

Kernel::~Kernel() {
  for (const std::unique_ptr<Variant> &variant : variants) {
    if (variant->owned) {
      device.unloadModule(variant->owned->module);
    }
  }
}

tenon_status Kernel::describe() {
  const Variant &first = *variants.front();
  Result<Plan> plan = first.bundle->plan(first.index);
  if (!plan) {
    return fail(TENON_BAD_BUNDLE, plan.error().message);
  }
  contract = std::move(*plan);
  for (const PlanOperand &operand : contract.operands) {
    OperandTexts texts;
    texts.type = findElementType(operand.elementType);
    if (!texts.type) {
      return fail(TENON_BAD_BUNDLE,
                  fmt::format("{}: operand '{}' has the type '{}', which this "
                              "version of Tenon does not know",
                              name, operand.name, operand.elementType));
    }
    for (const OperandDim &dim : operand.dims) {
      texts.sizes.push_back(dim.symbol.empty() ? dim.size : -1);
      texts.symbols.push_back(dim.symbol.c_str());
    }
    operandTexts.push_back(std::move(texts));
  }
  PreparedPlan prepared(contract);
  for (std::string_view symbol : bucketSymbols) {
    PreparedPlan::Place place;
    if (!prepared.findSize(symbol, place)) {
      return fail(TENON_BAD_BUNDLE,
                  fmt::format("{}: no operand has the size '{}' that chooses "
                              "its schedule",
                              name, symbol));
    }
    bucketPlaces.push_back(place);
  }
  return TENON_OK;
}

tenon_status Kernel::load(Variant &variant, const LoadedVariant *&loaded) {
  std::lock_guard<std::mutex> guard(lock);
  loaded = variant.loaded.load(std::memory_order_acquire);
  if (loaded) {
    return TENON_OK;
  }
  Result<Plan> plan = variant.bundle->plan(variant.index);
  if (!plan) {
    return fail(TENON_BAD_BUNDLE, plan.error().message);
  }
  auto code = variant.bundle->codeObject(variant.index);
  if (!code) {
    return fail(TENON_BAD_BUNDLE, code.error().message);
  }
  auto refused = [&](const std::string &why) {
    return fail(TENON_BAD_BUNDLE,
                fmt::format("{} of the bundle '{}' is refused: {}", name,
                            variant.bundle->name(), why));
  };
  Result<std::string> target = codeObjectTarget(*code);
  if (!target) {
    return refused(target.error().message);
  }
  if (*target != device.target()) {
    return refused(fmt::format("its code is for {}, and {} is a {}", *target,
                               device.name(), device.target()));
  }
  if (plan->operands != contract.operands ||
      plan->scalars != contract.scalars) {
    return refused("its operands are not those of the kernel's other "
                   "schedules");
  }
  auto fresh = std::make_unique<LoadedVariant>(std::move(*plan));
  for (const OperandTexts &texts : operandTexts) {
    fresh->types.push_back(texts.type);
  }
  Result<void *> module = device.loadModule(*code);
  if (!module) {
    return fail(TENON_DEVICE_ERROR,
                fmt::format("{}: {}", name, module.error().message));
  }
  fresh->module = *module;
  for (const Launch &launch : fresh->plan.plan().launches) {
    Result<void *> function = device.function(*module, launch.kernel);
    if (!function) {
      device.unloadModule(*module);
      return fail(TENON_DEVICE_ERROR,
                  fmt::format("{}: {}", name, function.error().message));
    }
    fresh->functions.push_back(*function);
  }
  variant.owned = std::move(fresh);
  loaded = variant.owned.get();
  variant.loaded.store(loaded, std::memory_order_release);
  counters.modules.fetch_add(1, std::memory_order_relaxed);
  return TENON_OK;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string list(const int64_t *numbers, uint32_t count) {
  return numbers
             ? fmt::format("[{}]", fmt::join(std::span(numbers, count), ", "))
             : "dense";
}

static std::string_view typeName(tenon_dtype dtype) {
  const ElementType *type = findElementType(dtype);
  return type ? type->name : "an unknown type";
}

tenon_status Kernel::refuse(const tenon_launch_arguments &arguments,
                            const std::string &reason) const {
  std::string text = fmt::format("{} on {}: {}", name, device.name(), reason);
  for (uint32_t i = 0; i < arguments.operand_count; ++i) {
    const tenon_tensor &found = arguments.operands[i];
    text +=
        fmt::format("\n  {}: {} {}, strides {}{}{} at {}",
                    i < contract.operands.size() ? contract.operands[i].name
                                                 : fmt::format("operand {}", i),
                    typeName(found.dtype), list(found.sizes, found.rank),
                    list(found.strides, found.rank),
                    found.layout && *found.layout ? ", order " : "",
                    found.layout ? found.layout : "", found.data);
    if (i < contract.operands.size()) {
      const PlanOperand &operand = contract.operands[i];
      std::vector<std::string> sizes;
      for (const OperandDim &dim : operand.dims) {
        sizes.push_back(dim.symbol.empty() ? std::to_string(dim.size)
                                           : dim.symbol);
      }
      text += fmt::format(" ({} [{}] expected)", operand.elementType,
                          fmt::join(sizes, ", "));
    }
  }
  for (uint32_t i = 0; i < arguments.scalar_count; ++i) {
    text +=
        fmt::format("\n  {} = {}",
                    i < contract.scalars.size() ? contract.scalars[i]
                                                : fmt::format("scalar {}", i),
                    arguments.scalars[i]);
  }
  return fail(TENON_INVALID_ARGUMENT, std::move(text));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

tenon_status Kernel::readOperands(const tenon_launch_arguments &arguments,
                                  Call &call) {
  if (arguments.operand_count != contract.operands.size()) {
    return refuse(arguments, fmt::format("{} operands expected, {} found",
                                         contract.operands.size(),
                                         arguments.operand_count));
  }
  // The vectors below are pointed into while they are filled.
  size_t ranks = 0;
  for (uint32_t i = 0; i < arguments.operand_count; ++i) {
    const tenon_tensor &tensor = arguments.operands[i];
    if (tensor.rank != contract.operands[i].dims.size()) {
      return refuse(arguments,
                    fmt::format("operand '{}': rank {} expected, {} found",
                                contract.operands[i].name,
                                contract.operands[i].dims.size(), tensor.rank));
    }
    ranks += tensor.rank;
  }
  call.numbers.resize(2 * ranks);
  int64_t *spare = call.numbers.data();
  call.operands.resize(arguments.operand_count);
  for (uint32_t i = 0; i < arguments.operand_count; ++i) {
    const tenon_tensor &tensor = arguments.operands[i];
    const ElementType &expected = *operandTexts[i].type;
    if (tensor.dtype != expected.dtype && !accepts(expected, tensor.dtype)) {
      return refuse(arguments,
                    fmt::format("operand '{}': {} expected, {} "
                                "found",
                                contract.operands[i].name, expected.name,
                                typeName(tensor.dtype)));
    }
    uint32_t rank = tensor.rank;
    OperandArgument &operand = call.operands[i];
    operand.address = reinterpret_cast<uintptr_t>(tensor.data);
    operand.layout = tensor.layout && *tensor.layout
                         ? std::string_view(tensor.layout)
                         : std::string_view();
    operand.sizes = {tensor.sizes, rank};
    operand.strides = {tensor.strides, rank};
    // Bytes that stand for two values each: count the values.
    bool inBytes = expected.bits == 4 && tensor.dtype != expected.dtype;
    if (inBytes && rank > 0) {
      std::copy_n(tensor.sizes, rank, spare);
      if (spare[rank - 1] > std::numeric_limits<int64_t>::max() / 2) {
        return refuse(arguments, fmt::format("operand '{}' is too large",
                                             contract.operands[i].name));
      }
      spare[rank - 1] *= 2;
      operand.sizes = {spare, rank};
      spare += rank;
    }
    if (!tensor.strides) {
      uint64_t stride = 1;
      for (uint32_t dim = rank; dim-- > 0;) {
        spare[dim] = int64_t(stride);
        stride *= uint64_t(operand.sizes[dim]);
      }
      operand.strides = {spare, rank};
      spare += rank;
    } else if (inBytes && rank > 0) {
      for (uint32_t dim = 0; dim < rank; ++dim) {
        bool innermost = dim + 1 == rank && tensor.strides[dim] == 1;
        spare[dim] = innermost ? 1 : int64_t(2 * uint64_t(tensor.strides[dim]));
      }
      operand.strides = {spare, rank};
      spare += rank;
    }
  }
  return TENON_OK;
}

Variant &Kernel::choose(const Call &call, bool &isMiss) const {
  isMiss = false;
  if (bucketPlaces.empty()) {
    return *variants.front();
  }
  Variant *best = nullptr;
  double least = 0;
  bool own = false;
  for (const std::unique_ptr<Variant> &variant : variants) {
    double distance = 0;
    bool isOwn = true;
    for (size_t i = 0; i < bucketPlaces.size(); ++i) {
      auto [operand, dim] = bucketPlaces[i];
      int64_t wanted = bucketOf(call.operands[operand].sizes[dim]);
      // Factors, so that 1 is as near to 2 as 512 to 1024.
      double ratio = double(variant->bucket[i]) / double(wanted);
      distance += ratio < 1 ? 1 / ratio : ratio;
      isOwn &= variant->bucket[i] == wanted;
    }
    // Of two that are equally near the larger, which is never short of room.
    if (!best || distance <= least) {
      best = variant.get();
      least = distance;
      own = isOwn;
    }
  }
  isMiss = !own;
  return *best;
}

tenon_status Kernel::prepare(const tenon_launch_arguments &arguments,
                             Call &call) {
  if (tenon_status status = readOperands(arguments, call)) {
    return status;
  }
  call.variant = &choose(call, call.isBucketMiss);
  const LoadedVariant *loaded =
      call.variant->loaded.load(std::memory_order_acquire);
  if (!loaded) {
    Result<bool> capturing = device.isCapturing(arguments.stream);
    if (!capturing) {
      return fail(TENON_DEVICE_ERROR, capturing.error().message);
    }
    if (*capturing) {
      return fail(TENON_NOT_LOADED,
                  fmt::format("{} is not loaded on {}, and nothing can be "
                              "loaded while its stream is captured: call "
                              "tenon_preload before, or launch it once",
                              name, device.name()));
    }
    if (tenon_status status = load(*call.variant, loaded)) {
      return status;
    }
  }
  std::span<const int64_t> scalars(arguments.scalars, arguments.scalar_count);
  if (!loaded->plan.evaluate(call.operands, scalars, call.evaluation)) {
    Result<ConcretePlan> concrete =
        runtime::evaluate(loaded->plan.plan(), call.operands, scalars);
    if (!concrete) {
      return refuse(arguments, concrete.error().message);
    }
    loaded->plan.adopt(*concrete, call.evaluation);
  }
  return TENON_OK;
}

/// The place of every workspace of a plan in the two pieces of memory that the
/// caller provides, and what these have to hold.
static tenon_workspace arrange(const Plan &plan,
                               std::span<const uint64_t> bytes,
                               std::vector<uint64_t> &offsets) {
  tenon_workspace total = {};
  offsets.clear();
  for (size_t i = 0; i < plan.workspaces.size(); ++i) {
    const Workspace &workspace = plan.workspaces[i];
    uint64_t &end =
        workspace.zeroInitialised ? total.zeroed_bytes : total.bytes;
    uint64_t alignment = std::max<uint64_t>(workspace.alignment, 256);
    uint64_t offset = (end + alignment - 1) / alignment * alignment;
    offsets.push_back(offset);
    end = offset + bytes[i];
  }
  return total;
}

tenon_status Kernel::enqueue(const LoadedVariant &loaded, Call &call,
                             void *stream) {
  const Plan &plan = loaded.plan.plan();
  for (const ReadyLaunch &ready : call.evaluation.launches) {
    const Launch &launch = plan.launches[ready.launch];
    DeviceLaunch request;
    request.function = loaded.functions[ready.launch];
    request.grid = ready.grid;
    request.workgroupSize = launch.workgroupSize;
    request.dynamicLds = ready.dynamicLds;
    request.kernarg = call.evaluation.kernargs.data() + ready.kernargOffset;
    request.kernargBytes = launch.kernargBytes;
    request.stream = stream;
    if (device.needsExtents()) {
      call.pointers.clear();
      for (const KernelArg &arg : launch.args) {
        if (arg.kind == ArgKind::Workspace) {
          call.pointers.push_back(
              {arg.offset, call.evaluation.workspaceBytes[arg.index]});
        } else if (arg.kind == ArgKind::Pointer) {
          const OperandArgument &operand = call.operands[arg.index];
          Result<uint64_t> bytes = operandBytes(plan.operands[arg.index],
                                                operand.sizes, operand.strides);
          if (!bytes) {
            return fail(TENON_INVALID_ARGUMENT,
                        fmt::format("{} on {}: {}", name, device.name(),
                                    bytes.error().message));
          }
          call.pointers.push_back({arg.offset, *bytes});
        }
      }
      request.pointers = call.pointers;
    }
    if (Status launched = device.launch(request); !launched) {
      return fail(TENON_DEVICE_ERROR,
                  fmt::format("{} on {}: {}", name, device.name(),
                              launched.error().message));
    }
  }
  return TENON_OK;
}

/// The call of this thread for anything but launches.
template <typename Call> static Call &threadCall() {
  thread_local Call call;
  return call;
}

/// The place of a kernel among the memos of this thread; others may use it.
template <typename Memo> static Memo &threadMemo(uint64_t kernel) {
  thread_local std::array<Memo, 64> memos;
  return memos[kernel % memos.size()];
}

/// Binds the workspaces of a call that is evaluated, and enqueues it.
tenon_status Kernel::launchCall(const tenon_launch_arguments &arguments,
                                const LoadedVariant &loaded, Call &call) {
  const Plan &plan = loaded.plan.plan();
  if (!plan.workspaces.empty()) {
    tenon_workspace needed =
        arrange(plan, call.evaluation.workspaceBytes, call.workspaces);
    auto lacks = [](void *address, uint64_t given, uint64_t wanted) {
      return wanted != 0 &&
             (given < wanted || reinterpret_cast<uintptr_t>(address) % 256 ||
              !address);
    };
    if (lacks(arguments.workspace, arguments.workspace_bytes, needed.bytes) ||
        lacks(arguments.zeroed_workspace, arguments.zeroed_workspace_bytes,
              needed.zeroed_bytes)) {
      return refuse(
          arguments,
          fmt::format("workspaces of {} bytes, and of {} bytes that hold "
                      "zeros, expected, aligned to 256 bytes; {} bytes at {} "
                      "and {} bytes at {} found",
                      needed.bytes, needed.zeroed_bytes,
                      arguments.workspace_bytes, arguments.workspace,
                      arguments.zeroed_workspace_bytes,
                      arguments.zeroed_workspace));
    }
    for (size_t i = 0; i < plan.workspaces.size(); ++i) {
      call.workspaces[i] += reinterpret_cast<uintptr_t>(
          plan.workspaces[i].zeroInitialised ? arguments.zeroed_workspace
                                             : arguments.workspace);
    }
    loaded.plan.bindWorkspaces(call.workspaces, call.evaluation);
  }
  if (tenon_status status = enqueue(loaded, call, arguments.stream)) {
    return status;
  }
  counters.countLaunch(call.isBucketMiss);
  return TENON_OK;
}

/// Launches a call that is like the one of \p memo. False when an address is
/// misaligned.
bool Kernel::launchLike(const tenon_launch_arguments &arguments, Memo &memo,
                        tenon_status &status) {
  Call &call = memo.call;
  for (uint32_t i = 0; i < arguments.operand_count; ++i) {
    call.addresses[i] = reinterpret_cast<uintptr_t>(arguments.operands[i].data);
  }
  const LoadedVariant &loaded =
      *call.variant->loaded.load(std::memory_order_relaxed);
  if (!loaded.plan.rebind(call.addresses, call.evaluation)) {
    return false;
  }
  status = launchCall(arguments, loaded, call);
  return true;
}

tenon_status Kernel::launch(const tenon_launch_arguments &arguments) {
  Memo &memo = threadMemo<Memo>(serial);
  // Extents of operands follow from arrays of the caller.
  bool isKept = !device.needsExtents();
  tenon_status status = TENON_OK;
  if (isKept && memo.kernel == serial && memo.matches(arguments) &&
      launchLike(arguments, memo, status)) {
    memo.misses = 0;
    return status;
  }
  memo.kernel = 0;
  if (tenon_status failed = prepare(arguments, memo.call)) {
    return failed;
  }
  const LoadedVariant &loaded =
      *memo.call.variant->loaded.load(std::memory_order_relaxed);
  // Where every call has another shape, few are worth remembering.
  if (isKept && (memo.misses < 4 || memo.misses % 8 == 0)) {
    memo.remember(arguments);
    memo.call.addresses.resize(arguments.operand_count);
    memo.kernel = serial;
  }
  ++memo.misses;
  return launchCall(arguments, loaded, memo.call);
}

tenon_status Kernel::workspace(const tenon_launch_arguments &arguments,
                               tenon_workspace &result) {
  Call &call = threadCall<Call>();
  if (tenon_status status = readOperands(arguments, call)) {
    return status;
  }
  // Alignment is a matter of the launch.
  for (OperandArgument &operand : call.operands) {
    operand.address = 0;
  }
  std::span<const int64_t> scalars(arguments.scalars, arguments.scalar_count);
  const Variant &variant = choose(call, call.isBucketMiss);
  const LoadedVariant *loaded = variant.loaded.load(std::memory_order_acquire);
  if (loaded &&
      loaded->plan.evaluate(call.operands, scalars, call.evaluation)) {
    result = arrange(loaded->plan.plan(), call.evaluation.workspaceBytes,
                     call.workspaces);
    return TENON_OK;
  }
  Result<Plan> plan = variant.bundle->plan(variant.index);
  if (!plan) {
    return fail(TENON_BAD_BUNDLE, plan.error().message);
  }
  auto concrete = runtime::evaluate(*plan, call.operands, scalars);
  if (!concrete) {
    return refuse(arguments, concrete.error().message);
  }
  result = arrange(*plan, concrete->workspaceBytes, call.workspaces);
  return TENON_OK;
}

tenon_status Kernel::maxWorkspace(std::span<const SizeBound> bounds,
                                  tenon_workspace &result) {
  result = {};
  std::vector<uint64_t> offsets;
  for (const std::unique_ptr<Variant> &variant : variants) {
    Result<Plan> plan = variant->bundle->plan(variant->index);
    if (!plan) {
      return fail(TENON_BAD_BUNDLE, plan.error().message);
    }
    auto bytes = maxWorkspaceBytes(*plan, bounds);
    if (!bytes) {
      return fail(TENON_INVALID_ARGUMENT,
                  fmt::format("{}: {}", name, bytes.error().message));
    }
    tenon_workspace needed = arrange(*plan, *bytes, offsets);
    result.bytes = std::max(result.bytes, needed.bytes);
    result.zeroed_bytes = std::max(result.zeroed_bytes, needed.zeroed_bytes);
  }
  return TENON_OK;
}

} // namespace tenon::runtime
