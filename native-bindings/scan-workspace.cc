// The implementation of scan-workspace.h.
#include "scan-workspace.h"

#include <algorithm>
#include <new>

namespace waf {

namespace {

// Outputs that the classes of one value share; all of them are in memory at once.
constexpr size_t kSharedOutputs = 128;

// What the text of a batch, and the list of its lines, keep allocated at most.
constexpr size_t kLinesKept = 256 * 1024;

// What each list of a call keeps allocated afterwards at most.
constexpr size_t kListBytesKept = 1 << 20;

template <typename T>
bool IsLarge(const std::vector<T>& list) {
  return list.capacity() * sizeof(T) > kListBytesKept;
}

template <typename T>
void Trim(std::vector<T>* list) {
  if (IsLarge(*list)) std::vector<T>().swap(*list);
}

template <typename T>
void GrowTo(std::vector<T>* list, size_t size, T value) {
  if (list->size() < size) list->resize(size, value);
}

}  // namespace

void LineBatch::Clear() {
  text.clear();
  lines.clear();
  twins.clear();
  wholes = true;
  if (text.capacity() > kLinesKept) text.shrink_to_fit();
  if (lines.capacity() * sizeof(ScanLine) > kLinesKept) lines.shrink_to_fit();
  if (twins.capacity() * sizeof(LineTwin) > kLinesKept) twins.shrink_to_fit();
}

uint8_t* Arena::Reserve(size_t size, size_t limit) {
  if (!blocks_.empty() && blocks_.back().size - offset_ >= size) {
    return blocks_.back().bytes.get() + offset_;
  }
  const size_t block = std::max(size, next_block_);
  if (total_ + block > limit) return nullptr;
  uint8_t* bytes = new (std::nothrow) uint8_t[block];
  if (bytes == nullptr) return nullptr;
  blocks_.push_back(Block{std::unique_ptr<uint8_t[]>(bytes), block});
  total_ += block;
  offset_ = 0;
  return bytes;
}

// Forgets all blocks; the next one is as large as they were together, within reason.
void Arena::Shrink() {
  next_block_ = std::min(std::max(total_, kFirstBlock), kKept);
  blocks_.clear();
  total_ = 0;
}

uint32_t ScanWorkspace::AddProgram() {
  ++programs;
  memo.Reserve(std::min(programs * memo_size.entries, memo_size.entries_max));
  return ++last_number;
}

void ScanWorkspace::Fit(size_t steps, size_t expressions, size_t targets, size_t databases) {
  GrowTo(&outputs, std::max(steps, kSharedOutputs), RowOutput{});
  GrowTo(&output_of_step, steps, uint16_t{0});
  GrowTo(&pattern_stamp, expressions, uint32_t{0});
  GrowTo(&target_stamp, targets, uint32_t{0});
  GrowTo(&last_location, targets, int32_t{-1});
  if (batches.size() < databases) batches.resize(databases);
}

void ScanWorkspace::TrimRows() {
  Trim(&items);
  Trim(&pending);
  Trim(&next);
  Trim(&sharers);
  if (!IsLarge(texts) && !IsLarge(text_at)) return;
  // Together: the table holds indices of the texts.
  std::vector<TextOfCall>().swap(texts);
  std::vector<int32_t>().swap(text_at);
}

}  // namespace waf
