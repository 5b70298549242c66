// Owns the implementation of scan-rows.h.
#include "scan-rows.h"

#include <algorithm>

namespace waf {

namespace {

uint8_t LowerOf(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

uint32_t KeyHash(const uint8_t* key, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ LowerOf(key[i])) * 16777619u;
  return hash ^ (hash >> 15);
}

bool SameKey(const std::string& lower, const uint8_t* key, size_t size) {
  if (lower.size() != size) return false;
  for (size_t i = 0; i < size; ++i) {
    if (static_cast<uint8_t>(lower[i]) != LowerOf(key[i])) return false;
  }
  return true;
}

const uint8_t kNothing = 0;

}  // namespace

void RowFace::Finish() {
  size_t size = 4;
  while (size < 2 * named.size()) size *= 2;
  index_.assign(size, -1);
  for (size_t i = 0; i < named.size(); ++i) {
    const std::string& key = named[i].key;
    longest_ = std::max(longest_, key.size());
    size_t at = KeyHash(reinterpret_cast<const uint8_t*>(key.data()), key.size()) & (size - 1);
    while (index_[at] >= 0) at = (at + 1) & (size - 1);
    index_[at] = static_cast<int16_t>(i);
  }
}

int RowFace::Find(const uint8_t* key, size_t size) const {
  if (named.empty() || size > longest_) return -1;
  const size_t mask = index_.size() - 1;
  for (size_t at = KeyHash(key, size) & mask; index_[at] >= 0; at = (at + 1) & mask) {
    if (SameKey(named[static_cast<size_t>(index_[at])].key, key, size)) return index_[at];
  }
  return -1;
}

RowScanner::RowScanner(ScanProgram* program, std::vector<RowFace> faces, size_t memo_entries,
                       uint64_t seed)
    : program_(program), faces_(std::move(faces)), memo_(memo_entries, seed) {
  for (RowFace& face : faces_) face.Finish();
}

bool RowScanner::Valid(const RowTable& table, size_t from, size_t to) const {
  if (from > to || to > table.rows) return false;
  const auto lies = [&](int32_t start, int32_t end) {
    return start >= 0 && end >= start && static_cast<size_t>(end) <= table.slab_size;
  };
  for (size_t row = from; row < to; ++row) {
    if (2 * size_t{table.source[row]} + 1 >= faces_.size()) return false;
    if (!lies(table.start[row], table.end[row])) return false;
    if (!lies(table.key_start[row], table.key_end[row])) return false;
  }
  return true;
}

size_t RowScanner::Scan(const RowTable& table, size_t from, size_t to, int32_t* hits,
                        size_t capacity) {
  hits_ = hits;
  capacity_ = capacity;
  count_ = 0;
  items_.clear();
  pending_.clear();
  for (size_t row = from; row < to; ++row) {
    const size_t face = 2 * size_t{table.source[row]};
    if (!faces_[face].empty()) AddFace(table, row, face);
    if (!faces_[face + 1].empty()) AddFace(table, row, face + 1);
  }
  if (items_.empty()) return count_;
  const uint64_t overflows = program_->stats().overflows;
  const size_t room = capacity > count_ ? capacity - count_ : 0;
  int32_t* own = hits + 2 * std::min(count_, capacity);
  const size_t found = program_->Scan(items_.data(), items_.size(), own, room);
  count_ += found;
  // What was not looked at completely is not remembered.
  if (found <= room && program_->stats().overflows == overflows) KeepPending(own, found);
  return count_;
}

void RowScanner::AddFace(const RowTable& table, size_t row, size_t face) {
  const RowFace& plan = faces_[face];
  const uint8_t* key = table.slab + table.key_start[row];
  const size_t key_size = static_cast<size_t>(table.key_end[row] - table.key_start[row]);
  const int named = plan.Find(key, key_size);
  if (named < 0 && plan.any.empty()) return;
  const uint8_t* data = key;
  size_t size = key_size;
  if ((face & 1) == 0) {
    data = table.slab + table.start[row];
    size = static_cast<size_t>(table.end[row] - table.start[row]);
  }
  if (size == 0) data = &kNothing;
  const auto origin = static_cast<int32_t>(row * 2 + (face & 1));
  if (memo_.enabled() && size <= ScanMemo::kValueMax) {
    const uint32_t profile = static_cast<uint32_t>(face) | static_cast<uint32_t>(named + 1) << 8;
    const uint64_t hash = memo_.HashOf(profile, data, size);
    const ScanMemo::Entry* known = memo_.Find(hash, profile, data, size);
    if (known != nullptr) {
      ++remembered_;
      for (size_t i = 0; i < known->hit_count; ++i) Emit(known->slots[i], origin);
      return;
    }
    if (memo_.SeenBefore(hash)) {
      pending_.push_back(Pending{hash, data, static_cast<uint32_t>(size), profile, origin, -1});
    }
  }
  const auto add = [&](uint16_t id) {
    items_.push_back(ScanItem{data, static_cast<uint32_t>(size), id, origin});
  };
  for (const uint16_t id : plan.any) add(id);
  if (named < 0) return;
  for (const uint16_t id : plan.named[static_cast<size_t>(named)].classes) add(id);
}

void RowScanner::Emit(uint32_t slot, int32_t origin) {
  if (count_ < capacity_) {
    hits_[2 * count_] = static_cast<int32_t>(slot);
    hits_[2 * count_ + 1] = origin;
  }
  ++count_;
}

// `pending_` is in order of origins: rows are taken in order, values before names.
void RowScanner::KeepPending(const int32_t* hits, size_t count) {
  if (pending_.empty()) return;
  next_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const int32_t origin = hits[2 * i + 1];
    const auto found =
        std::lower_bound(pending_.begin(), pending_.end(), origin,
                         [](const Pending& one, int32_t wanted) { return one.origin < wanted; });
    if (found == pending_.end() || found->origin != origin) continue;
    next_[i] = found->hit;
    found->hit = static_cast<int32_t>(i);
  }
  for (const Pending& one : pending_) {
    uint32_t slots[ScanMemo::kHitsMax];
    size_t kept = 0;
    bool fits = true;
    for (int32_t hit = one.hit; hit >= 0 && fits; hit = next_[static_cast<size_t>(hit)]) {
      const auto slot = static_cast<uint32_t>(hits[2 * hit]);
      if (std::find(slots, slots + kept, slot) != slots + kept) continue;
      fits = kept < ScanMemo::kHitsMax;
      if (fits) slots[kept++] = slot;
    }
    if (fits) memo_.Keep(one.hash, one.profile, one.data, one.size, slots, kept);
  }
}

}  // namespace waf
