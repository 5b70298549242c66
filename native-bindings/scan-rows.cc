// The implementation of scan-rows.h.
#include "scan-rows.h"

#include <algorithm>
#include <cstring>

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

// A profile is the program's number, the position of the name plus one, and the row part.
constexpr int kNumberShift = 32;
constexpr int kNamedShift = 8;

const uint8_t kNothing = 0;

// Shorter names and values cost less than it takes to compare them. Of a few short values none is
// worth it: what a request repeats for our cost is long, or comes in many rows.
constexpr size_t kSharedNameMin = 24;
constexpr size_t kSharedValueMin = 16;
constexpr size_t kSharedLongMin = 256;
constexpr size_t kSharedRowsMin = 64;
constexpr size_t kTextsAtFirst = 64;

constexpr size_t kManyRowsMin = 256;
// Values that are scanned together: what lists them stays in the processor's cache.
constexpr size_t kItemsMax = 4096;

}  // namespace

void RowPart::Finish() {
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
  groups.emplace_back(any);
  for (const Named& one : named) {
    std::vector<uint16_t> all = any;
    all.insert(all.end(), one.classes.begin(), one.classes.end());
    groups.emplace_back(std::move(all));
  }
}

int RowPart::Find(const uint8_t* key, size_t size) const {
  if (named.empty() || size > longest_) return -1;
  const size_t mask = index_.size() - 1;
  for (size_t at = KeyHash(key, size) & mask; index_[at] >= 0; at = (at + 1) & mask) {
    if (SameKey(named[static_cast<size_t>(index_[at])].key, key, size)) return index_[at];
  }
  return -1;
}

RowScanner::RowScanner(ScanProgram* program, std::vector<RowPart> row_parts)
    : program_(program),
      row_parts_(std::move(row_parts)),
      work_(program->workspace()),
      number_(uint64_t{program->number()} << kNumberShift) {
  for (RowPart& row_part : row_parts_) row_part.Finish();
}

bool RowScanner::Valid(const RowTable& table, size_t from, size_t to) const {
  if (from > to || to > table.rows) return false;
  const auto lies = [&](int32_t start, int32_t end) {
    return start >= 0 && end >= start && static_cast<size_t>(end) <= table.slab_size;
  };
  for (size_t row = from; row < to; ++row) {
    if (2 * size_t{table.source[row]} + 1 >= row_parts_.size()) return false;
    if (!lies(table.start[row], table.end[row])) return false;
    if (!lies(table.key_start[row], table.key_end[row])) return false;
  }
  return true;
}

size_t RowScanner::Scan(const RowTable& table, size_t from, size_t to, int32_t* hits,
                        size_t capacity, size_t only_class) {
  hits_ = hits;
  capacity_ = capacity;
  count_ = 0;
  end_ = ScanEnd::kDone;
  work_.items.clear();
  work_.pending.clear();
  work_.sharers.clear();
  if (!work_.texts.empty()) {
    work_.texts.clear();
    std::fill(work_.text_at.begin(), work_.text_at.end(), -1);
  }
  value_min_ = to - from < kSharedRowsMin ? kSharedLongMin : kSharedValueMin;
  const ScanMode mode = to - from < kManyRowsMin ? ScanMode::kFewRows : ScanMode::kManyRows;
  for (size_t row = from; row < to && end_ == ScanEnd::kDone; ++row) {
    const size_t row_part = 2 * size_t{table.source[row]};
    for (size_t part = row_part; part < row_part + 2; ++part) {
      if (row_parts_[part].empty()) continue;
      if (only_class == kAllClasses)
        AddRowPart(table, row, part);
      else
        AddOneClass(table, row, part, only_class);
    }
    if (work_.items.size() >= kItemsMax) ScanItems(mode);
  }
  ScanItems(mode);
  const size_t written = std::min(count_, capacity);
  if (!work_.sharers.empty()) EmitShared(written);
  // What was not looked at completely is not remembered.
  if (written == count_ && end_ == ScanEnd::kDone) KeepPending(written);
  work_.TrimRows();
  return count_;
}

void RowScanner::ScanItems(ScanMode mode) {
  if (work_.items.empty()) return;
  const size_t written = std::min(count_, capacity_);
  count_ += program_->Scan(work_.items.data(), work_.items.size(), hits_ + 2 * written,
                           capacity_ - written, mode);
  end_ = program_->end();
  work_.items.clear();
}

void RowScanner::AddRowPart(const RowTable& table, size_t row, size_t row_part) {
  RowPart& plan = row_parts_[row_part];
  const uint8_t* key = table.slab + table.key_start[row];
  const size_t key_size = static_cast<size_t>(table.key_end[row] - table.key_start[row]);
  const int named = plan.Find(key, key_size);
  if (named < 0 && plan.any.empty()) return;
  const uint8_t* data = key;
  size_t size = key_size;
  if ((row_part & 1) == 0) {
    data = table.slab + table.start[row];
    size = static_cast<size_t>(table.end[row] - table.start[row]);
  }
  if (size == 0) data = &kNothing;
  const auto location = static_cast<int32_t>(row * 2 + (row_part & 1));
  const uint64_t profile =
      number_ | static_cast<uint32_t>(row_part) | static_cast<uint32_t>(named + 1) << kNamedShift;
  const bool remembers = work_.memo.enabled() && size <= ScanMemo::kValueMax;
  const bool shares = size >= ((row_part & 1) == 1 ? kSharedNameMin : value_min_);
  const uint64_t hash = remembers || shares ? work_.memo.HashOf(profile, data, size) : 0;
  if (remembers) {
    const ScanMemo::Entry* known = work_.memo.Find(hash, profile, data, size);
    if (known != nullptr) {
      ++remembered_;
      for (size_t i = 0; i < known->hit_count; ++i) Emit(known->target_ids[i], location);
      return;
    }
    if (shares && SharesScan(hash, profile, data, size, location)) return;
    if (work_.memo.SeenBefore(hash)) {
      work_.pending.push_back(
          PendingValue{hash, data, static_cast<uint32_t>(size), profile, location, -1});
    }
  }
  if (shares && !remembers && SharesScan(hash, profile, data, size, location)) return;
  work_.items.push_back(ScanItem{data, static_cast<uint32_t>(size), location,
                                 &plan.groups[static_cast<size_t>(named + 1)]});
}

// A row that is scanned in several calls: nothing is remembered of it, and nothing looked up, so
// that each call sees the same classes.
void RowScanner::AddOneClass(const RowTable& table, size_t row, size_t row_part, size_t place) {
  const RowPart& plan = row_parts_[row_part];
  const uint8_t* key = table.slab + table.key_start[row];
  const size_t key_size = static_cast<size_t>(table.key_end[row] - table.key_start[row]);
  const int named = plan.Find(key, key_size);
  const bool any = place < plan.any.size();
  if (!any && named < 0) return;
  const std::vector<uint16_t>& classes =
      any ? plan.any : plan.named[static_cast<size_t>(named)].classes;
  const size_t at = any ? place : place - plan.any.size();
  if (at >= classes.size()) return;
  const bool is_key = (row_part & 1) == 1;
  const uint8_t* data = is_key ? key : table.slab + table.start[row];
  const size_t size = is_key ? key_size : static_cast<size_t>(table.end[row] - table.start[row]);
  work_.items.push_back(ScanItem{size == 0 ? &kNothing : data, static_cast<uint32_t>(size),
                                 static_cast<int32_t>(row * 2 + (row_part & 1)),
                                 program_->GroupOf(classes[at])});
}

bool RowScanner::SharesScan(uint64_t hash, uint64_t profile, const uint8_t* data, size_t size,
                            int32_t location) {
  if (2 * work_.texts.size() >= work_.text_at.size()) GrowTexts();
  const size_t mask = work_.text_at.size() - 1;
  size_t at = hash & mask;
  for (; work_.text_at[at] >= 0; at = (at + 1) & mask) {
    TextOfCall& known = work_.texts[static_cast<size_t>(work_.text_at[at])];
    if (known.hash != hash || known.profile != profile || known.size != size) continue;
    if (std::memcmp(known.data, data, size) != 0) continue;
    work_.sharers.push_back(TextSharer{location, known.sharer});
    known.sharer = static_cast<int32_t>(work_.sharers.size() - 1);
    ++shared_;
    return true;
  }
  work_.text_at[at] = static_cast<int32_t>(work_.texts.size());
  work_.texts.push_back(TextOfCall{hash, data, static_cast<uint32_t>(size), profile, location, -1});
  return false;
}

void RowScanner::GrowTexts() {
  work_.text_at.assign(std::max(kTextsAtFirst, 4 * work_.texts.size()), -1);
  const size_t mask = work_.text_at.size() - 1;
  for (size_t i = 0; i < work_.texts.size(); ++i) {
    size_t at = work_.texts[i].hash & mask;
    while (work_.text_at[at] >= 0) at = (at + 1) & mask;
    work_.text_at[at] = static_cast<int32_t>(i);
  }
}

// `work_.texts` is in order of locations: rows are taken in order, values before names.
void RowScanner::EmitShared(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int32_t location = hits_[2 * i + 1];
    const auto found = std::lower_bound(
        work_.texts.begin(), work_.texts.end(), location,
        [](const TextOfCall& one, int32_t wanted) { return one.location < wanted; });
    if (found == work_.texts.end() || found->location != location) continue;
    for (int32_t sharer = found->sharer; sharer >= 0;) {
      const TextSharer& one = work_.sharers[static_cast<size_t>(sharer)];
      Emit(static_cast<uint32_t>(hits_[2 * i]), one.location);
      sharer = one.next;
    }
  }
}

void RowScanner::Emit(uint32_t target_id, int32_t location) {
  if (count_ < capacity_) {
    hits_[2 * count_] = static_cast<int32_t>(target_id);
    hits_[2 * count_ + 1] = location;
  }
  ++count_;
}

// `work_.pending` is in order of locations, too.
void RowScanner::KeepPending(size_t count) {
  if (work_.pending.empty()) return;
  work_.next.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const int32_t location = hits_[2 * i + 1];
    const auto found = std::lower_bound(
        work_.pending.begin(), work_.pending.end(), location,
        [](const PendingValue& one, int32_t wanted) { return one.location < wanted; });
    if (found == work_.pending.end() || found->location != location) continue;
    work_.next[i] = found->hit;
    found->hit = static_cast<int32_t>(i);
  }
  for (const PendingValue& one : work_.pending) {
    uint32_t target_ids[ScanMemo::kHitsMax];
    size_t kept = 0;
    bool fits = true;
    for (int32_t hit = one.hit; hit >= 0 && fits; hit = work_.next[static_cast<size_t>(hit)]) {
      const auto target_id = static_cast<uint32_t>(hits_[2 * hit]);
      if (std::find(target_ids, target_ids + kept, target_id) != target_ids + kept) continue;
      fits = kept < ScanMemo::kHitsMax;
      if (fits) target_ids[kept++] = target_id;
    }
    if (fits) work_.memo.Keep(one.hash, one.profile, one.data, one.size, target_ids, kept);
  }
}

}  // namespace waf
