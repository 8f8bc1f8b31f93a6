//===- Kernel.h - an op with its static parameters on a device --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DISPATCH_KERNEL_H
#define TENON_RUNTIME_DISPATCH_KERNEL_H

#include "ElementTypes.h"
#include "runtime/Devices/Device.h"
#include "tenon-c/tenon.h"
#include "tenon/Runtime/Bundle.h"
#include "tenon/Runtime/PreparedPlan.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tenon::runtime {

class Counters;

/// A kernel whose module is on the device.
struct LoadedVariant {
  explicit LoadedVariant(Plan plan) : plan(std::move(plan)) {}

  PreparedPlan plan;
  void *module = nullptr;
  std::vector<void *> functions;          ///< one per launch of the plan
  std::vector<const ElementType *> types; ///< one per operand
};

/// One schedule of a kernel: a kernel of a bundle.
struct Variant {
  std::shared_ptr<const Bundle> bundle;
  size_t index = 0;
  /// The values of the op's bucket parameters.
  std::vector<int64_t> bucket;
  std::atomic<const LoadedVariant *> loaded = nullptr;
  std::unique_ptr<LoadedVariant> owned;
};

/// What tenon_kernel points to.
struct Kernel {
  Kernel(Device &device, Counters &counters, KernelKey key);
  ~Kernel();

  Device &device;
  Counters &counters;
  const KernelKey key; ///< `bucket` is empty unless the caller fixed it
  std::string name;    ///< "kda_decode(H=12,...)"
  std::vector<std::unique_ptr<Variant>> variants; ///< by ascending bucket
  /// The symbols of the sizes that choose among the variants.
  std::vector<std::string_view> bucketSymbols;

  /// Operands and scalars, the same in all variants; filled by `describe`.
  Plan contract;
  struct OperandTexts {
    std::vector<int64_t> sizes;
    std::vector<const char *> symbols;
    const ElementType *type = nullptr;
  };
  std::vector<OperandTexts> operandTexts;

  /// Reads the plan of the first variant.
  tenon_status describe();

  /// Loads the module of \p variant unless it is loaded.
  tenon_status load(Variant &variant, const LoadedVariant *&loaded);

  tenon_status launch(const tenon_launch_arguments &arguments);
  tenon_status workspace(const tenon_launch_arguments &arguments,
                         tenon_workspace &result);
  tenon_status maxWorkspace(std::span<const SizeBound> bounds,
                            tenon_workspace &result);

private:
  struct Call;
  struct Memo;
  tenon_status launchCall(const tenon_launch_arguments &arguments,
                          const LoadedVariant &loaded, Call &call);
  bool launchLike(const tenon_launch_arguments &arguments, Memo &memo,
                  tenon_status &status);
  tenon_status prepare(const tenon_launch_arguments &arguments, Call &call);
  tenon_status readOperands(const tenon_launch_arguments &arguments,
                            Call &call);
  Variant &choose(const Call &call, bool &isMiss) const;
  tenon_status refuse(const tenon_launch_arguments &arguments,
                      const std::string &reason) const;
  tenon_status enqueue(const LoadedVariant &loaded, Call &call, void *stream);

  /// No two kernels of the process have the same.
  const uint64_t serial;
  /// Where the sizes of `bucketSymbols` are: operand and dimension.
  std::vector<PreparedPlan::Place> bucketPlaces;
  std::mutex lock; ///< of loading
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DISPATCH_KERNEL_H
