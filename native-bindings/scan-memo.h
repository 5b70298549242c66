// What the scanner remembers: for a value that was scanned before, which scan targets it hit.
// Most header lines and names of a site's traffic are the same bytes again and again, and so are
// session tokens of a kilobyte or two. An entry counts only when all its bytes are equal, so that
// no choice of values can make it answer wrongly.
//
// Bounded: cells of fixed size, sets of four, the least recently used one goes. A value is kept
// when it is met for the second time, more or less; what never comes again costs a bit. One memo
// serves all programs of a thread: a program's number is part of the profile.
#ifndef WAF_NATIVE_SCAN_MEMO_H
#define WAF_NATIVE_SCAN_MEMO_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace waf {

class ScanMemo {
 public:
  // Values longer than this, or with more hits than this, are not kept.
  static constexpr size_t kValueMax = 2048;
  static constexpr size_t kHitsMax = 12;

  struct Entry {
    uint64_t hash = 0;
    uint64_t profile = 0;
    uint16_t size = 0;
    uint8_t hit_count = 0;
    uint8_t live = 0;
    uint32_t age = 0;
    uint32_t target_ids[kHitsMax];
  };

  // `entries` short values, and fewer of longer ones so that each length takes as much memory; 0
  // remembers nothing. Memory is taken when the first value of a length is kept.
  ScanMemo(size_t entries, uint64_t seed);

  bool enabled() const { return entries_ > 0; }
  // Makes room for at least `entries`; what is remembered is forgotten where it grows.
  void Reserve(size_t entries);
  // `profile` names what is looked for in the value, and by which program.
  uint64_t HashOf(uint64_t profile, const uint8_t* data, size_t size) const;
  const Entry* Find(uint64_t hash, uint64_t profile, const uint8_t* data, size_t size);
  // True when the value was met before (some that were not count, too): it is worth keeping.
  bool SeenBefore(uint64_t hash);
  void Keep(uint64_t hash, uint64_t profile, const uint8_t* data, size_t size,
            const uint32_t* target_ids, size_t hit_count);

 private:
  struct Area {
    size_t cell = 0;
    size_t sets = 0;
    std::vector<Entry> entries;
    std::vector<uint8_t> bytes;
  };
  static constexpr size_t kCells[] = {64, 256, 512, kValueMax};
  static constexpr size_t kAreas = sizeof(kCells) / sizeof(kCells[0]);
  // `size` is at most kValueMax.
  Area& AreaOf(size_t size) {
    size_t i = 0;
    while (size > kCells[i]) ++i;
    return areas_[i];
  }

  size_t entries_ = 0;
  uint64_t seed_;
  uint32_t clock_ = 0;
  Area areas_[kAreas];
  // One bit a hash, so that values met at the same time do not push each other out.
  std::vector<uint64_t> seen_;
  size_t marks_ = 0;
};

}  // namespace waf

#endif  // WAF_NATIVE_SCAN_MEMO_H
