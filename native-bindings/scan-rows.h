// The way from rows of a value table to hits: which classes look at a row's value and name,
// and what is remembered of values met before. Knows nothing of N-API; one thread.
#ifndef WAF_NATIVE_SCAN_ROWS_H
#define WAF_NATIVE_SCAN_ROWS_H

#include <cstdint>
#include <string>
#include <vector>

#include "scan-program.h"

namespace waf {

// A value table's arrays; the bytes of row i are slab[start[i], end[i]), of its name the same with
// key_start and key_end.
struct RowTable {
  const uint8_t* slab = nullptr;
  size_t slab_size = 0;
  const uint8_t* source = nullptr;
  const int32_t* key_start = nullptr;
  const int32_t* key_end = nullptr;
  const int32_t* start = nullptr;
  const int32_t* end = nullptr;
  size_t rows = 0;
};

// Which classes look at one part (key or value) of a source's rows: part 2 * source is the value,
// the next one the name.
struct RowPart {
  struct Named {
    std::string key;  // lower case
    std::vector<uint16_t> classes;
  };
  std::vector<uint16_t> any;
  std::vector<Named> named;
  // Of any name, then by position in `named` those of any name with its own.
  std::vector<ScanGroup> groups;

  // Builds `index` and `groups`; call once when `named` is complete.
  void Finish();
  // Position in `named` of the key, ASCII case aside; -1 when there is none.
  int Find(const uint8_t* key, size_t size) const;
  bool empty() const { return any.empty() && named.empty(); }

 private:
  std::vector<int16_t> index_;
  size_t longest_ = 0;
};

class RowScanner {
 public:
  RowScanner(ScanProgram* program, std::vector<RowPart> row_parts);

  // False when a row of [from, to) does not lie in its table or has no known source.
  bool Valid(const RowTable& table, size_t from, size_t to) const;
  // Writes pairs [target id, row * 2 + part], at most `capacity`; returns how many there are.
  // `only_class`: the place of the one class of each part that looks at the rows; kAllClasses: all.
  size_t Scan(const RowTable& table, size_t from, size_t to, int32_t* hits, size_t capacity,
              size_t only_class = kAllClasses);
  static constexpr size_t kAllClasses = SIZE_MAX;
  // How the last call ended.
  ScanEnd end() const { return end_; }
  uint64_t remembered() const { return remembered_; }
  uint64_t shared() const { return shared_; }

 private:
  void ScanItems(ScanMode mode);
  void AddRowPart(const RowTable& table, size_t row, size_t row_part);
  void AddOneClass(const RowTable& table, size_t row, size_t row_part, size_t place);
  // True when an earlier row of the call has the same name, or the same value.
  bool SharesScan(uint64_t hash, uint64_t profile, const uint8_t* data, size_t size,
                  int32_t location);
  void GrowTexts();
  void EmitShared(size_t count);
  void Emit(uint32_t target_id, int32_t location);
  void KeepPending(size_t count);

  ScanProgram* program_;
  std::vector<RowPart> row_parts_;
  ScanWorkspace& work_;
  uint64_t number_;
  int32_t* hits_ = nullptr;
  size_t capacity_ = 0;
  size_t count_ = 0;
  size_t value_min_ = 0;  // bytes of a value from which on the running call compares it
  ScanEnd end_ = ScanEnd::kDone;
  uint64_t remembered_ = 0;
  uint64_t shared_ = 0;
};

}  // namespace waf

#endif  // WAF_NATIVE_SCAN_ROWS_H
