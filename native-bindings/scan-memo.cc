// The implementation of scan-memo.h.
#include "scan-memo.h"

#include <algorithm>
#include <cstring>

namespace waf {

namespace {

constexpr size_t kWays = 4;
constexpr size_t kSeenPerEntry = 32;

constexpr uint64_t kMixA = 0x9E3779B97F4A7C15ull;
constexpr uint64_t kMixB = 0xD6E8FEB86659FD93ull;

__extension__ using Wide = unsigned __int128;

uint64_t Mix(uint64_t a, uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Load(const uint8_t* data, size_t size) {
  uint64_t word = 0;
  std::memcpy(&word, data, size);
  return word;
}

size_t PowerOfTwoBelow(size_t n) {
  size_t power = 1;
  while (power * 2 <= n) power *= 2;
  return power;
}

}  // namespace

ScanMemo::ScanMemo(size_t entries, uint64_t seed) : seed_(seed) { Reserve(entries); }

void ScanMemo::Reserve(size_t entries) {
  if (entries <= entries_) return;
  entries_ = entries;
  for (size_t i = 0; i < kAreas; ++i) {
    areas_[i] = Area{};
    areas_[i].cell = kCells[i];
    areas_[i].sets = PowerOfTwoBelow(entries * kCells[0] / kCells[i] / kWays + 1);
  }
  std::vector<uint64_t>().swap(seen_);
  marks_ = 0;
}

uint64_t ScanMemo::HashOf(uint64_t profile, const uint8_t* data, size_t size) const {
  uint64_t hash = Mix(seed_ ^ profile, kMixA ^ size);
  size_t at = 0;
  for (; at + 8 <= size; at += 8) hash = Mix(hash ^ Load(data + at, 8), kMixA);
  if (at < size) hash = Mix(hash ^ Load(data + at, size - at), kMixB);
  return Mix(hash, kMixB);
}

const ScanMemo::Entry* ScanMemo::Find(uint64_t hash, uint64_t profile, const uint8_t* data,
                                      size_t size) {
  Area& area = AreaOf(size);
  if (area.entries.empty()) return nullptr;
  const size_t first = (hash & (area.sets - 1)) * kWays;
  for (size_t i = first; i < first + kWays; ++i) {
    Entry& entry = area.entries[i];
    if (entry.live == 0 || entry.hash != hash || entry.profile != profile) continue;
    if (entry.size != size) continue;
    if (size != 0 && std::memcmp(&area.bytes[i * area.cell], data, size) != 0) continue;
    entry.age = ++clock_;
    return &entry;
  }
  return nullptr;
}

bool ScanMemo::SeenBefore(uint64_t hash) {
  const size_t bits = PowerOfTwoBelow(entries_ * kSeenPerEntry);
  if (seen_.empty()) seen_.assign((bits + 63) / 64, 0);
  const size_t at = (hash >> 16) & (bits - 1);
  const uint64_t bit = uint64_t{1} << (at & 63);
  if ((seen_[at >> 6] & bit) != 0) return true;
  // A quarter full, it would soon take new values for old ones: begin anew.
  if (++marks_ > bits / 4) {
    std::fill(seen_.begin(), seen_.end(), 0);
    marks_ = 1;
  }
  seen_[at >> 6] |= bit;
  return false;
}

void ScanMemo::Keep(uint64_t hash, uint64_t profile, const uint8_t* data, size_t size,
                    const uint32_t* target_ids, size_t hit_count) {
  Area& area = AreaOf(size);
  if (area.entries.empty()) {
    area.entries.resize(area.sets * kWays);
    area.bytes.resize(area.sets * kWays * area.cell);
  }
  const size_t first = (hash & (area.sets - 1)) * kWays;
  size_t oldest = first;
  for (size_t i = first; i < first + kWays; ++i) {
    if (area.entries[i].live == 0) {
      oldest = i;
      break;
    }
    // Ages are compared as distances, so that the clock may go round.
    if (clock_ - area.entries[i].age > clock_ - area.entries[oldest].age) oldest = i;
  }
  Entry& entry = area.entries[oldest];
  entry.hash = hash;
  entry.profile = profile;
  entry.size = static_cast<uint16_t>(size);
  entry.hit_count = static_cast<uint8_t>(hit_count);
  entry.live = 1;
  entry.age = ++clock_;
  if (hit_count > 0) std::memcpy(entry.target_ids, target_ids, hit_count * sizeof(uint32_t));
  if (size > 0) std::memcpy(&area.bytes[oldest * area.cell], data, size);
}

}  // namespace waf
