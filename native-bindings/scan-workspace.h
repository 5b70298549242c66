// What the scan programs of one thread share: scratch space, buffers and the memo. A call finds all
// of it free, and but for the memo nothing in it means anything after the call, so a thread needs
// one however many policies it serves. Grows with the largest program and the largest call.
#ifndef WAF_NATIVE_SCAN_WORKSPACE_H
#define WAF_NATIVE_SCAN_WORKSPACE_H

#include <cstdint>
#include <memory>
#include <vector>

#include "hyperscan.h"
#include "scan-memo.h"
#include "sql-words.h"

namespace waf {

struct ScanClass;
class ScanGroup;

// Bump allocation that is reset for every row; pointers stay valid within the row.
class Arena {
 public:
  // Room for `size` bytes, or nullptr where all of it would exceed `limit`.
  uint8_t* Reserve(size_t size, size_t limit);
  // Gives back what the last Reserve did not use.
  void Commit(size_t used) { offset_ += used; }
  void Reset() {
    if (blocks_.size() > 1 || total_ > kKept) Shrink();
    offset_ = 0;
  }

 private:
  static constexpr size_t kFirstBlock = 64 * 1024;
  // What stays allocated between rows at most.
  static constexpr size_t kKept = 4 * 1024 * 1024;
  struct Block {
    std::unique_ptr<uint8_t[]> bytes;
    size_t size;
  };
  void Shrink();

  size_t next_block_ = kFirstBlock;
  size_t total_ = 0;
  size_t offset_ = 0;
  std::vector<Block> blocks_;
};

// One value that the classes of a group are to look at; `location` comes back with its hits.
struct ScanItem {
  const uint8_t* data;  // never null
  uint32_t size;
  int32_t location;
  ScanGroup* group;
};

// A distinct value of a row.
struct RowOutput {
  const uint8_t* data;
  uint32_t size;
  uint32_t mask;
  uint64_t chains;
  // Transformations that ran on this value already (a bit each) and the outputs they gave: trie
  // nodes that were left unchanged lead to the same work again.
  uint64_t tried;
  uint16_t result[64];
};

// One value that waits to be scanned as a line.
struct ScanLine {
  uint32_t start;
  int32_t location;
  const ScanClass* owner;
  uint64_t chains;
  int32_t twin = -1;  // newest of its twins in the batch
};

// Who else looks for something in the bytes of a line: another class, or another part of a request.
struct LineTwin {
  int32_t location;
  const ScanClass* owner;
  uint64_t chains;
  int32_t next;
};

// Lines that wait for one database.
struct LineBatch {
  std::vector<uint8_t> text;
  std::vector<ScanLine> lines;
  std::vector<LineTwin> twins;
  int32_t guard = -1;  // finds the lines that need the scan; -1: all do
  size_t at = 0;       // the line of the last match, and where it starts and ends
  uint64_t at_start = 0;
  uint64_t at_end = 0;
  size_t matches = 0;  // told by the scan that runs
  size_t bound = 0;    // of them, before the scan may be broken off
  bool broken_off = false;
  bool wholes = true;  // every line has databases that tell each pattern once

  // Forgets the lines, and gives back what unusually large ones have taken.
  void Clear();
};

// A value that is to be kept in the memo once its hits are known.
struct PendingValue {
  uint64_t hash;
  const uint8_t* data;
  uint32_t size;
  uint64_t profile;
  int32_t location;
  int32_t hit;  // newest of its hits, -1 when none
};

// A name or value of a call, by its hash; later rows with the same one get its hits.
struct TextOfCall {
  uint64_t hash;
  const uint8_t* data;
  uint32_t size;
  uint64_t profile;
  int32_t location;
  int32_t sharer;  // newest of the rows that share it, -1 when none
};

// One row that shares a name or value.
struct TextSharer {
  int32_t location;
  int32_t next;
};

// How much a workspace remembers.
struct MemoSize {
  size_t entries;      // for each program that there is at a time,
  size_t entries_max;  // and for all of them
};

struct ScanWorkspace {
  ScanWorkspace(MemoSize size, uint64_t seed) : memo(0, seed), memo_size(size) {}
  // A number for one more program; no other has it, not even later.
  uint32_t AddProgram();
  void RemoveProgram() { --programs; }
  // Makes the buffers large enough for a program too.
  void Fit(size_t steps, size_t expressions, size_t targets, size_t databases);
  // Calls are over: gives back what an unusually large one has taken.
  void TrimRows();

  Scratch scratch;
  Arena arena;
  SqlWords sql_words;
  ScanMemo memo;
  MemoSize memo_size;
  size_t programs = 0;
  uint32_t last_number = 0;
  // The first output_count count.
  std::vector<RowOutput> outputs;
  size_t output_count = 0;
  std::vector<uint16_t> output_of_step;
  // Stamps say "seen in this row / scan or line" without clearing.
  std::vector<uint32_t> target_stamp;
  std::vector<uint32_t> pattern_stamp;
  uint32_t row_epoch = 0;
  uint32_t scan_epoch = 0;
  // Lines by database, and the databases that have some: none between calls.
  std::vector<LineBatch> batches;
  std::vector<size_t> waiting;
  std::vector<uint8_t> suspects;       // by line: 1 where the guard found something
  LineBatch suspect_batch;             // copies of those lines
  std::vector<LineBatch> bundled;      // by bundle of the running program; empty between calls
  std::vector<int32_t> last_location;  // by target id, within one batch

  // Of the way from rows to items.
  std::vector<ScanItem> items;
  std::vector<PendingValue> pending;
  std::vector<int32_t> next;
  // Names and values in order of their rows, those that share them, and a hash table of indices.
  std::vector<TextOfCall> texts;
  std::vector<TextSharer> sharers;
  std::vector<int32_t> text_at;
};

}  // namespace waf

#endif  // WAF_NATIVE_SCAN_WORKSPACE_H
