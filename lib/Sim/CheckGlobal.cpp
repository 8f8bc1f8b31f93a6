//===- CheckGlobal.cpp - order of memory accesses of workgroups -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckGlobal.h"

#include <algorithm>

namespace tenon::sim {

static bool isAmong(const std::vector<uint32_t> &keys, uint32_t key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool OrderSnapshot::covers(const AccessEntry &entry) const {
  bool own = entry.wave == wave;
  int32_t last =
      std::min(own ? phase : barrierPhase, int32_t(AccessEntry::lastPhase));
  if (int32_t(entry.phase) > last) {
    return false;
  }
  return own ? !isAmong(inFlight, entry.key())
             : !inFlightAtBarrier || !isAmong(*inFlightAtBarrier, entry.key());
}

void GroupOrder::reset(uint64_t workgroup, unsigned waveCount) {
  *this = GroupOrder();
  number = workgroup;
  waves.resize(waveCount);
  knowledge.resize(waveCount);
}

void GroupOrder::nextPhase() {
  now += accessed;
  accessed = false;
}

void GroupOrder::issue(unsigned wave, uint32_t access, bool isScalar) {
  WaveOrder &order = waves[wave];
  (isScalar ? order.scalar : order.vector)
      .push_back({AccessEntry{0, access, wave}.key(), order.serial++, {}});
}

void GroupOrder::complete(unsigned wave, Issued &issued) {
  for (const AcquireEdge &edge : issued.edges) {
    own.edges.push_back(edge);
  }
  waves[wave].event = -1;
}

void GroupOrder::waitVector(unsigned wave, unsigned left) {
  WaveOrder &order = waves[wave];
  if (order.vector.size() > left) {
    size_t done = order.vector.size() - left;
    for (size_t i = 0; i < done; ++i) {
      complete(wave, order.vector[i]);
    }
    order.vector.erase(order.vector.begin(),
                       order.vector.begin() + ptrdiff_t(done));
  }
  if (left == 0 && order.pendingWriteback >= 0) {
    order.writeback = order.pendingWriteback;
    order.pendingWriteback = -1;
    order.event = -1;
  }
}

void GroupOrder::waitScalar(unsigned wave) {
  for (Issued &issued : waves[wave].scalar) {
    complete(wave, issued);
  }
  waves[wave].scalar.clear();
}

void GroupOrder::barrier() {
  std::vector<uint32_t> inFlight;
  for (WaveOrder &order : waves) {
    for (const std::vector<Issued> *queue : {&order.vector, &order.scalar}) {
      for (const Issued &issued : *queue) {
        inFlight.push_back(issued.access);
      }
    }
    sharedWriteback = std::max(sharedWriteback, order.writeback);
    order.event = -1;
  }
  inFlightAtBarrier =
      inFlight.empty()
          ? nullptr
          : std::make_shared<const std::vector<uint32_t>>(std::move(inFlight));
  for (size_t i = 0; i < own.edges.size(); ++i) {
    for (unsigned cache = 0; cache < 2; ++cache) {
      for (unsigned w = 0; w < waves.size() && !own.edges[i].isClean[cache];
           ++w) {
        own.edges[i].isClean[cache] =
            isVisible(own.edges[i], i, w) && isClean(own.edges[i], i, w, cache);
      }
    }
  }
  edgesAtBarrier = uint32_t(own.edges.size());
  barrierPhase = now;
  accessed = true;
  nextPhase();
}

OrderSnapshot GroupOrder::snapshot(unsigned wave) const {
  OrderSnapshot result;
  result.wave = wave;
  result.phase = now;
  result.barrierPhase = barrierPhase;
  result.inFlightAtBarrier = inFlightAtBarrier;
  return result;
}

void GroupOrder::writeBack(unsigned wave) {
  // Stores that the workgroup has issued on its compute unit go to the cache
  // ahead of the write-back: waits for them are not needed.
  own.writebacks.push_back(snapshot(wave));
  own.writebacks.back().inFlightAtBarrier = nullptr;
  waves[wave].pendingWriteback = int32_t(own.writebacks.size()) - 1;
  nextPhase();
}

void GroupOrder::invalidate(unsigned wave, OrderCache cache) {
  uint32_t (&clean)[2] = waves[wave].clean[unsigned(cache)];
  clean[0] = edgesAtBarrier;
  clean[1] = uint32_t(own.edges.size());
}

/// The event of a synchronising write, which is the last instruction issued.
uint32_t GroupOrder::release(unsigned wave, bool isScalar) {
  WaveOrder &order = waves[wave];
  if (order.event >= 0) {
    return uint32_t(order.event);
  }
  ReleaseEvent event;
  event.done = snapshot(wave);
  const std::vector<Issued> &queue = isScalar ? order.scalar : order.vector;
  uint32_t itself = queue.empty() ? ~0u : queue.back().access;
  for (const std::vector<Issued> *issued : {&order.vector, &order.scalar}) {
    for (const Issued &access : *issued) {
      if (access.access != itself) {
        event.done.inFlight.push_back(access.access);
      }
    }
  }
  event.writeback = std::max(sharedWriteback, order.writeback);
  event.edges = uint32_t(own.edges.size());
  event.edgesAtBarrier = edgesAtBarrier;
  own.events.push_back(std::move(event));
  order.event = int32_t(own.events.size()) - 1;
  accessed = true; // by the write itself
  nextPhase();
  return uint32_t(order.event);
}

void GroupOrder::addEdge(unsigned wave, Issued &issued, const SyncState *state,
                         uint32_t upTo) {
  bool hasOthers = false;
  for (uint32_t i = upTo; i-- > 0 && !hasOthers;) {
    hasOthers = state->writes[i].workgroup != number;
  }
  // A poll that sees nothing new acquires nothing new.
  if (hasOthers &&
      waves[wave]
          .seen.insert({uint64_t(reinterpret_cast<uintptr_t>(state)), upTo})
          .second) {
    AcquireEdge edge;
    edge.state = state;
    edge.upTo = upTo;
    edge.wave = wave;
    issued.edges.push_back(edge);
  }
}

void GroupOrder::read(unsigned wave, const GlobalOrder &order, uint64_t address,
                      unsigned bytes, bool isScalar) {
  std::vector<Issued> &queue =
      isScalar ? waves[wave].scalar : waves[wave].vector;
  if (!order.hasReleases() || queue.empty()) {
    return;
  }
  const SyncState *last = nullptr;
  for (uint64_t at = address / 4 * 4; at < address + bytes; at += 4) {
    const SyncState *state = order.stateOf(at);
    if (state && state != last) {
      addEdge(wave, queue.back(), state, uint32_t(state->writes.size()));
    }
    last = state;
  }
}

uint32_t GroupOrder::write(unsigned wave, uint64_t address, unsigned bytes,
                           bool isAtomic, bool returns, bool isScalar) {
  uint32_t event = release(wave, isScalar);
  const std::vector<Issued> &queue =
      isScalar ? waves[wave].scalar : waves[wave].vector;
  pending.push_back({address, bytes, event, wave,
                     queue.empty() ? 0 : queue.back().serial, isAtomic, returns,
                     isScalar});
  return uint32_t(own.events[event].done.phase);
}

void GroupOrder::writeCached(unsigned wave, uint64_t address, unsigned bytes) {
  waves[wave].cachedStores.push_back({address, bytes});
}

void GroupOrder::writeBackScalar(unsigned wave) {
  std::vector<std::pair<uint64_t, unsigned>> stores;
  std::swap(stores, waves[wave].cachedStores);
  for (auto [address, bytes] : stores) {
    write(wave, address, bytes, /*isAtomic=*/false, /*returns=*/false,
          /*isScalar=*/true);
  }
}

void GroupOrder::publish(GlobalOrder &order) {
  if (own.events.empty() && own.edges.empty()) {
    return;
  }
  // Others look up what events know; those that never release are nobody's
  // source.
  if (!own.events.empty()) {
    std::unique_ptr<OrderHistory> &history = order.histories[number];
    if (!history) {
      history = std::make_unique<OrderHistory>();
    }
    auto copy = [](auto &from, auto &to) {
      to.insert(to.end(), from.begin() + ptrdiff_t(to.size()), from.end());
    };
    copy(own.events, history->events);
    copy(own.writebacks, history->writebacks);
    copy(own.edges, history->edges);
  }
  // Stores take place before atomics.
  for (const PendingWrite &write : pending) {
    if (write.isAtomic) {
      continue;
    }
    SyncState &state = order.arena.emplace_back();
    state.writes.push_back({number, write.event});
    state.isShared = write.bytes > 4;
    for (uint64_t at = write.address / 4 * 4; at < write.address + write.bytes;
         at += 4) {
      order.states[at / 4] = &state;
    }
  }
  for (const PendingWrite &write : pending) {
    if (!write.isAtomic) {
      continue;
    }
    for (uint64_t at = write.address; at < write.address + write.bytes;
         at += 4) {
      SyncState *&state = order.states[at / 4];
      if (!state || state->isShared) {
        SyncState *old = state;
        state = &order.arena.emplace_back();
        if (old) {
          state->writes = old->writes;
        }
      }
      if (write.returns) {
        std::vector<Issued> &queue = write.isScalar ? waves[write.wave].scalar
                                                    : waves[write.wave].vector;
        auto issued =
            std::find_if(queue.begin(), queue.end(), [&](const Issued &entry) {
              return entry.serial == write.serial;
            });
        if (issued != queue.end() && !state->writes.empty()) {
          addEdge(write.wave, *issued, state, uint32_t(state->writes.size()));
        }
      }
      std::vector<SyncState::Write> &writes = state->writes;
      if (writes.empty() || writes.back().workgroup != number ||
          writes.back().event != write.event) {
        writes.push_back({number, write.event});
      }
    }
  }
  pending.clear();
}

bool GroupOrder::isVisible(const AcquireEdge &edge, size_t index,
                           unsigned wave) const {
  return index < edgesAtBarrier || edge.wave == wave;
}

bool GroupOrder::isClean(const AcquireEdge &edge, size_t index, unsigned wave,
                         unsigned cache) const {
  const uint32_t (&clean)[2] = waves[wave].clean[cache];
  return edge.isClean[cache] || index < clean[0] ||
         (edge.wave == wave && index < clean[1]);
}

/// All events that come before what a wave does now, as far as the caches that
/// the level names (1: vector, 2: scalar) have been invalidated since.
const GroupOrder::Known &GroupOrder::known(unsigned wave, unsigned level,
                                           const GlobalOrder &order) {
  Known &known = knowledge[wave][level];
  known.done.resize(own.edges.size());
  std::vector<AcquireEdge> rest;
  for (size_t i = 0; i < own.edges.size(); ++i) {
    const AcquireEdge &edge = own.edges[i];
    if (!known.done[i] && isVisible(edge, i, wave) &&
        (!level || isClean(edge, i, wave, level - 1))) {
      known.done[i] = true;
      rest.push_back(edge);
    }
  }
  while (!rest.empty()) {
    AcquireEdge edge = rest.back();
    rest.pop_back();
    uint32_t &seen = known.states[edge.state];
    uint32_t first = seen;
    seen = std::max(seen, edge.upTo);
    for (uint32_t i = first; i < edge.upTo; ++i) {
      const SyncState::Write &write = edge.state->writes[i];
      const OrderHistory *history = order.historyOf(write.workgroup);
      if (!history || write.workgroup == number) {
        continue;
      }
      const ReleaseEvent &event = history->events[write.event];
      uint64_t key = write.workgroup << 4 | event.done.wave;
      auto [entry, isNew] = known.events.try_emplace(key, write.event);
      uint32_t walked = 0;
      if (!isNew) {
        if (entry->second >= write.event) {
          continue;
        }
        walked = history->events[entry->second].edgesAtBarrier;
        entry->second = write.event;
      }
      for (uint32_t e = walked; e < event.edges; ++e) {
        const AcquireEdge &further = history->edges[e];
        if (e < event.edgesAtBarrier || further.wave == event.done.wave) {
          rest.push_back(further);
        }
      }
    }
  }
  return known;
}

GroupOrder::Standing GroupOrder::standing(unsigned wave,
                                          const GlobalOrder &order,
                                          const AccessEntry &earlier,
                                          Needs needs) {
  const OrderHistory *history = order.historyOf(earlier.workgroup);
  if (!history || own.edges.empty()) {
    return Standing::Unordered;
  }
  bool isOrdered = false, isWrittenBack = false, isClean = false,
       isIncomplete = false;
  auto search = [&](unsigned level) {
    const Known &events = known(wave, level, order);
    for (uint64_t other = 0; other < 16; ++other) {
      auto found = events.events.find(earlier.workgroup << 4 | other);
      if (found == events.events.end()) {
        continue;
      }
      const ReleaseEvent &event = history->events[found->second];
      bool isBack =
          event.writeback >= 0 &&
          history->writebacks[size_t(event.writeback)].covers(earlier);
      if (!isBack && !event.done.covers(earlier)) {
        isIncomplete |= event.done.phase >= int32_t(earlier.phase);
        continue;
      }
      (level ? isClean : isOrdered) = true;
      isWrittenBack |= isBack;
    }
  };
  search(0);
  if (!isOrdered) {
    return isIncomplete ? Standing::Incomplete : Standing::Unordered;
  }
  if (needs.writeback && !isWrittenBack) {
    return Standing::NotWrittenBack;
  }
  if (needs.clean) {
    search(1 + unsigned(needs.cache));
    return isClean ? Standing::Fine : Standing::NotInvalidated;
  }
  return Standing::Fine;
}

void GlobalOrder::touch(GroupOrder &group, const Access &access,
                        uint64_t address, uint64_t bytes,
                        llvm::SmallVectorImpl<Conflict> &conflicts) {
  constexpr uint64_t dies = 8;
  AccessEntry entry = {group.workgroup(), access.id,   access.wave,
                       access.phase,      access.lane, access.laneBytes};
  auto visitor = [&](bool otherSynchronises) {
    return [&, otherSynchronises](const AccessEntry &earlier, bool isWrite,
                                  uint64_t at) {
      bool isElsewhere = earlier.workgroup % dies != entry.workgroup % dies;
      GroupOrder::Needs needs;
      needs.writeback = isWrite && isElsewhere && !otherSynchronises;
      needs.clean =
          isWrite && isElsewhere && !access.writes && !access.synchronises;
      needs.cache = access.isScalar ? OrderCache::Scalar : OrderCache::Vector;
      GroupOrder::Standing standing =
          group.standing(access.wave, *this, earlier, needs);
      if (standing != GroupOrder::Standing::Fine) {
        conflicts.push_back({earlier, isWrite, at, standing});
      }
      return standing == GroupOrder::Standing::Fine && access.writes;
    };
  };
  auto plainVisitor = visitor(/*otherSynchronises=*/false);
  if (!access.synchronises) {
    plain.add(entry, access.writes, address, bytes, plainVisitor);
    if (anySynchronising.load()) {
      synchronising.look(entry, access.writes, address, bytes,
                         visitor(/*otherSynchronises=*/true));
    }
    return;
  }
  // Synchronising accesses are in no conflict with each other, but more than
  // one element is data, and a release must come after the write of them.
  anySynchronising.store(true);
  bool isData = bytes > 8 && !access.writes && hasReleases();
  synchronising.add(entry, access.writes, address, bytes,
                    [&](const AccessEntry &earlier, bool isWrite, uint64_t at) {
                      if (isData &&
                          group.standing(access.wave, *this, earlier, {}) ==
                              GroupOrder::Standing::Incomplete) {
                        conflicts.push_back({earlier, isWrite, at,
                                             GroupOrder::Standing::Incomplete});
                      }
                      return false;
                    });
  plain.look(entry, access.writes, address, bytes, plainVisitor);
}

} // namespace tenon::sim
