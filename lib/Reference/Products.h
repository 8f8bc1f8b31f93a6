//===- Products.h - sums of products ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_REFERENCE_PRODUCTS_H
#define TENON_LIB_REFERENCE_PRODUCTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace tenon::reference {

/// The sums of products of each of \p rows with each of \p count rows of
/// weights, which \p weightRow makes in ascending order; [rows, count],
/// row-major. All rows have one size.
std::vector<double>
products(llvm::ArrayRef<std::vector<double>> rows, int64_t count,
         llvm::function_ref<std::vector<double>(int64_t)> weightRow);

} // namespace tenon::reference

#endif // TENON_LIB_REFERENCE_PRODUCTS_H
