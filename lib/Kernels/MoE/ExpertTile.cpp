//===- ExpertTile.cpp - the routes that a workgroup computes ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

/// [tokens, places]: a token in each of 16 lanes, as products want their rows;
/// its places in registers and in the other lanes.
static tile::LayoutAttr idsLayout(MLIRContext *context, int64_t places,
                                  int64_t waves) {
  SmallVector<layout::Basis> registers;
  SmallVector<layout::Basis> lanes;
  for (int64_t token = 1; token < directTokens; token *= 2) {
    lanes.push_back({token, 0});
  }
  int64_t place = 1;
  for (; place < places && place < 4; place *= 2) {
    registers.push_back({0, place});
  }
  for (int64_t bit = 0; bit < 2; ++bit, place *= 2) {
    lanes.push_back({0, place < places ? place : 0});
  }
  for (; place < places; place *= 2) {
    registers.push_back({0, place});
  }
  layout::Layout once = llvm::cantFail(
      layout::Layout::create({directTokens, places}, registers, lanes, {}, {}));
  layout::Repeat replicas{layout::HwDim::Wave, waves, std::nullopt};
  return tile::LayoutAttr::get(
      context, llvm::cantFail(layout::Layout::repeat(once, replicas)));
}

ExpertTile moe::directTile(spec::MoeExpertsOp op, TileBuilder &t,
                           const llvm::StringMap<Value> &args, Value row,
                           int64_t waves) {
  int64_t perToken = op.getExpertsPerToken();
  int64_t places = llvm::PowerOf2Ceil(perToken);
  Value zero = t.i32(0);
  RouteLookup lookup(op, t, args);
  auto [expert, exists] = lookup.expert(row);
  Value id = t.create<tile::LoadScalarOp>(
      t.builder().getI32Type(),
      t.advance(args.lookup("ids"), t.wideMul(row, t.i32(4))));
  // The ids of all tokens, by which routes to one expert are found: two ids of
  // one expert are two groups of routes.
  Value tokens = t.create<arith::MinSIOp>(lookup.tokens(), t.i32(directTokens));
  Value view =
      t.view(args.lookup("ids"),
             {t.builder().getIndexAttr(perToken), t.builder().getIndexAttr(1)},
             t.mul(tokens, t.i32(perToken * 4)));
  Limits limits;
  if (places != perToken) {
    limits.values = {t.i32(std::numeric_limits<int32_t>::max()),
                     t.i32(perToken)};
    limits.divisors = t.builder().getDenseI64ArrayAttr({1, 1});
  }
  tile::LayoutAttr layout = idsLayout(op.getContext(), places, waves);
  Value ids = t.load(view, {zero, zero}, {directTokens, places}, layout,
                     /*nontemporal=*/false, limits);
  auto compare = [&](arith::CmpIPredicate predicate, Value a,
                     Value c) -> Value {
    return t.create<arith::CmpIOp>(predicate, a, c);
  };
  auto both = [&](Value a, Value c) -> Value {
    return t.create<arith::AndIOp>(a, c);
  };
  Value token = t.iota(0, ids);
  Value place = t.iota(1, ids);
  Value matches = compare(arith::CmpIPredicate::eq, ids, t.splat(id, ids));
  matches = both(matches, compare(arith::CmpIPredicate::slt, token,
                                  t.splat(tokens, token)));
  if (places != perToken) {
    matches = both(matches, compare(arith::CmpIPredicate::slt, place,
                                    t.integers(perToken, place)));
  }
  // The first place of each token is the greatest of the negative numbers.
  constexpr int64_t none = -(int64_t(1) << 20);
  Value negative = t.create<arith::SubIOp>(t.integers(0, place), place);
  Value first = t.reduce(
      tile::ReduceKind::Max,
      t.create<arith::SelectOp>(matches, negative, t.integers(none, negative)),
      {1});
  Value isRouted =
      compare(arith::CmpIPredicate::ne, first, t.integers(none, first));
  Value firstToken = t.iota(0, first);
  Value route = t.create<arith::SubIOp>(
      t.create<arith::MulIOp>(firstToken, t.integers(perToken, firstToken)),
      first);
  Value least = t.create<arith::SubIOp>(t.integers(0, route), route);
  least = t.create<arith::SelectOp>(isRouted, least, t.integers(none, least));
  Value leader = t.create<arith::SubIOp>(
      zero, t.uniform(t.reduce(tile::ReduceKind::Max, least, {0})));
  // Whether the own token has named the expert at an earlier place.
  Value ownToken = t.create<arith::DivUIOp>(row, t.i32(perToken));
  Value isOwn = compare(arith::CmpIPredicate::eq, firstToken,
                        t.splat(ownToken, firstToken));
  Value ownFirst = t.create<arith::SubIOp>(
      zero,
      t.uniform(t.reduce(tile::ReduceKind::Max,
                         t.create<arith::SelectOp>(both(isOwn, isRouted), least,
                                                   t.integers(none, least)),
                         {0})));
  Value isAgain = compare(arith::CmpIPredicate::slt, ownFirst, row);
  Value leads = compare(arith::CmpIPredicate::eq, leader, row);
  Value takesAny = t.create<arith::OrIOp>(isAgain, leads);
  ExpertTile result;
  result.expert = expert;
  result.runs = both(compare(arith::CmpIPredicate::ne, exists, zero), takesAny);
  Value nothing = t.integers(-1, route);
  Value together = t.create<arith::SelectOp>(isRouted, route, nothing);
  Value alone = t.create<arith::SelectOp>(isOwn, t.splat(row, route), nothing);
  // By arithmetic: a uniform condition of a select would make descriptors vary.
  Value again = t.create<arith::ExtUIOp>(t.builder().getI32Type(), isAgain);
  Value isAlone = compare(arith::CmpIPredicate::ne, t.splat(again, route),
                          t.integers(0, route));
  result.routes = t.create<arith::SelectOp>(isAlone, alone, together);
  return result;
}

ExpertTile moe::sortedTile(TileBuilder &t, const llvm::StringMap<Value> &args,
                           Value row, int64_t rows) {
  ExpertTile result;
  result.expert = t.create<tile::LoadScalarOp>(
      t.builder().getI32Type(),
      t.advance(args.lookup(tileExperts), t.wideMul(row, t.i32(4))));
  result.runs = t.create<arith::CmpIOp>(arith::CmpIPredicate::sge,
                                        result.expert, t.i32(0));
  Value first =
      t.advance(args.lookup(sortedRoutes), t.wideMul(row, t.i32(4 * rows)));
  Value view = t.view(first, {t.builder().getIndexAttr(1)}, t.i32(4 * rows));
  result.routes = t.load(view, {t.i32(0)}, {rows});
  return result;
}

Value moe::tokensOf(spec::MoeExpertsOp op, TileBuilder &t, Value routes) {
  Value token = t.create<arith::DivUIOp>(
      routes, t.integers(op.getExpertsPerToken(), routes));
  Value isNone = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, routes,
                                         t.integers(0, routes));
  return t.create<arith::SelectOp>(isNone, t.integers(-1, routes), token);
}
