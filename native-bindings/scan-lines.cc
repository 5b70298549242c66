// The scan of joined values: values that wait for one database, a line each, and which line a match
// lies in. The rest of the class is in scan-program.cc.
#include <algorithm>
#include <cstring>

#include "scan-program.h"

namespace waf {

namespace {

// Joined lines are scanned when they have become this long; bounds the memory of a call.
constexpr size_t kLinesMax = 1 << 20;

// A joined scan reports every place where a pattern ends, some 12 to 100 ns each, and a value may
// be made of nothing else: five patterns of CRS match at every byte of one. Past `kLineMatchesMax`
// for each line and one for `kBytesPerMatch` of the bytes scanned so far it is broken off, and each
// line is scanned alone, where a pattern is reported once. That costs some 4 us a line, and with
// the widest database 5 to 100 ns a byte: one match for four bytes is cheaper reported.
constexpr size_t kLineMatchesMax = 256;
constexpr size_t kBytesPerMatch = 2;
// Shorter lines stay together: their reports cannot cost more than a call of their own.
constexpr size_t kApartMin = 16;
// A guard reports every place, too; past this number, and one a line, all lines are suspects.
constexpr size_t kSuspectMatchesMax = 64;
// The same bytes come again soon or not at all: other classes of the group look at the same value,
// or a parser names one text twice. Shorter ones cost less than it takes to compare them.
constexpr size_t kTwinsWithin = 8;
constexpr size_t kTwinMin = 48;

}  // namespace

// Every line ends with a newline, the last too: `^` finds no empty line after the final newline.
void ScanProgram::AddLine(int32_t lines, const uint8_t* data, uint32_t size) {
  const auto database = static_cast<size_t>(lines);
  LineBatch& batch = work_.batches[database];
  if (batch.lines.empty()) work_.waiting.push_back(database);
  if (size >= kTwinMin && AddTwin(&batch, data, size)) return;
  batch.lines.push_back(
      ScanLine{static_cast<uint32_t>(batch.text.size()), location_, class_, chains_});
  batch.wholes = batch.wholes && class_->Whole() != nullptr;
  batch.text.insert(batch.text.end(), data, data + size);
  batch.text.push_back('\n');
  lines_full_ = lines_full_ || batch.text.size() >= kLinesMax;
}

// True where one of the last lines has these bytes already.
bool ScanProgram::AddTwin(LineBatch* batch, const uint8_t* data, uint32_t size) const {
  size_t end = batch->text.size();
  const size_t last = batch->lines.size();
  for (size_t i = last; i-- > 0 && i + kTwinsWithin >= last;) {
    ScanLine& line = batch->lines[i];
    const bool same = end - 1 - line.start == size &&
                      std::memcmp(batch->text.data() + line.start, data, size) == 0;
    end = line.start;
    if (!same) continue;
    batch->wholes = batch->wholes && class_->Whole() != nullptr;
    batch->twins.push_back(LineTwin{location_, class_, chains_, line.twin});
    line.twin = static_cast<int32_t>(batch->twins.size() - 1);
    return true;
  }
  return false;
}

void ScanProgram::ScanFullBatches() {
  lines_full_ = false;
  for (size_t i = work_.waiting.size(); i-- > 0;) {
    if (work_.batches[work_.waiting[i]].text.size() >= kLinesMax) ScanLines(work_.waiting[i]);
  }
}

void ScanProgram::ScanLines(size_t database) {
  work_.waiting.erase(std::find(work_.waiting.begin(), work_.waiting.end(), database));
  LineBatch& batch = work_.batches[database];
  SearchLines(database, batch.guard, &batch);
  // Another program's database of this number may need no guard.
  batch.guard = -1;
  batch.Clear();
}

// The hits of all lines, or of those in which the guard finds something.
void ScanProgram::SearchLines(size_t database, int32_t guard, LineBatch* batch) {
  if (guard >= 0) batch = Suspects(guard, batch);
  if (end_ == ScanEnd::kFailed) return;
  const size_t before = count_;
  const size_t bound = batch->lines.size() * kLineMatchesMax;
  if (ScanJoined(database, batch, batch->wholes ? bound : SIZE_MAX)) return;
  ++stats_.abandoned;
  count_ = before;
  ScanApart(database, batch);
}

// Copies of the lines in which the guard finds something, or all of them where it finds much.
LineBatch* ScanProgram::Suspects(int32_t guard, LineBatch* batch) {
  const std::vector<ScanLine>& lines = batch->lines;
  batch_ = batch;
  batch->at = 0;
  batch->at_start = batch->at_end = 0;
  batch->matches = 0;
  batch->bound = kSuspectMatchesMax + lines.size();
  work_.suspects.assign(lines.size(), 0);
  Search(static_cast<size_t>(guard), batch->text.data(), batch->text.size(), OnSuspect);
  stats_.matches += batch->matches;
  if (batch->matches > batch->bound || end_ == ScanEnd::kFailed) return batch;
  LineBatch* found = &work_.suspect_batch;
  found->Clear();
  found->wholes = batch->wholes;
  found->twins = batch->twins;
  for (size_t i = 0; batch->matches > 0 && i < lines.size(); ++i) {
    if (work_.suspects[i] == 0) continue;
    const auto start = batch->text.begin() + lines[i].start;
    const auto end =
        i + 1 < lines.size() ? batch->text.begin() + lines[i + 1].start : batch->text.end();
    found->lines.push_back(lines[i]);
    found->lines.back().start = static_cast<uint32_t>(found->text.size());
    found->text.insert(found->text.end(), start, end);
  }
  stats_.skipped += lines.size() - found->lines.size();
  return found;
}

int ScanProgram::OnSuspect(unsigned, unsigned long long, unsigned long long to, unsigned,
                           void* context) {
  auto* self = static_cast<ScanProgram*>(context);
  LineBatch& batch = *self->batch_;
  if (++batch.matches > batch.bound) return 1;
  if (to < batch.at_start || to >= batch.at_end) self->FindLine(to);
  self->work_.suspects[batch.at] = 1;
  return 0;
}

bool ScanProgram::ScanJoined(size_t database, LineBatch* batch, size_t bound) {
  if (batch->lines.empty()) return true;
  batch_ = batch;
  batch->at = 0;
  batch->at_start = batch->at_end = 0;
  batch->matches = 0;
  batch->bound = bound;
  batch->broken_off = false;
  std::fill_n(work_.last_location.begin(), target_count_, -1);
  Search(database, batch->text.data(), batch->text.size(), OnLineMatch);
  stats_.matches += batch->matches;
  return !batch->broken_off;
}

// Scans each line with the databases for every value; the short ones together once more.
void ScanProgram::ScanApart(size_t database, LineBatch* batch) {
  LineBatch rest;
  rest.twins = batch->twins;
  for (size_t i = 0; i < batch->lines.size(); ++i) {
    const ScanLine& line = batch->lines[i];
    const size_t end = i + 1 < batch->lines.size() ? batch->lines[i + 1].start : batch->text.size();
    const size_t size = end - 1 - line.start;
    const uint8_t* data = batch->text.data() + line.start;
    if (size < kApartMin) {
      ScanLine short_line = line;
      short_line.start = static_cast<uint32_t>(rest.text.size());
      rest.lines.push_back(short_line);
      rest.text.insert(rest.text.end(), data, data + size + 1);
      continue;
    }
    ScanAlone(data, size, line.location, line.owner, line.chains);
    for (int32_t twin = line.twin; twin >= 0;) {
      const LineTwin& one = batch->twins[static_cast<size_t>(twin)];
      ScanAlone(data, size, one.location, one.owner, one.chains);
      twin = one.next;
    }
  }
  ScanJoined(database, &rest, SIZE_MAX);
}

void ScanProgram::ScanAlone(const uint8_t* data, size_t size, int32_t location,
                            const ScanClass* owner, uint64_t chains) {
  class_ = owner;
  location_ = location;
  chains_ = chains;
  NextRow();
  NextScan();
  ScanParts(*owner->Whole(), data, size);
}

int ScanProgram::OnLineMatch(unsigned id, unsigned long long, unsigned long long to, unsigned,
                             void* context) {
  auto* self = static_cast<ScanProgram*>(context);
  LineBatch& batch = *self->batch_;
  if (++batch.matches > batch.bound && batch.matches - batch.bound > to / kBytesPerMatch) {
    batch.broken_off = true;
    return 1;
  }
  // No value ends here: `\B$` and the like match after the newline of the last line.
  if (to == batch.text.size()) return 0;
  // Most often a pattern matches once more, some bytes on in the same line.
  if (to < batch.at_start || to >= batch.at_end) self->FindLine(to);
  if (id >= self->work_.pattern_stamp.size() ||
      self->work_.pattern_stamp[id] == self->work_.scan_epoch)
    return 0;
  self->work_.pattern_stamp[id] = self->work_.scan_epoch;
  self->NoteLine(id);
  return 0;
}

// A match that ends at `to` lies in the last line that starts there or before. Stamps of patterns
// say "seen in this line".
void ScanProgram::FindLine(uint64_t to) {
  LineBatch& batch = *batch_;
  const std::vector<ScanLine>& lines = batch.lines;
  size_t at = batch.at;
  if (lines[at].start > to) at = 0;
  while (at + 1 < lines.size() && lines[at + 1].start <= to) {
    // Matches mostly come in order; far ahead, halve the way.
    const size_t half = at + (lines.size() - at) / 2;
    at = half > at + 8 && lines[half].start <= to ? half : at + 1;
  }
  batch.at = at;
  batch.at_start = lines[at].start;
  batch.at_end = at + 1 < lines.size() ? lines[at + 1].start : UINT64_MAX;
  NextScan();
}

void ScanProgram::NoteLine(unsigned id) {
  const ScanLine& line = batch_->lines[batch_->at];
  NoteAt(id, line.location, *line.owner, line.chains);
  for (int32_t twin = line.twin; twin >= 0;) {
    const LineTwin& one = batch_->twins[static_cast<size_t>(twin)];
    NoteAt(id, one.location, *one.owner, one.chains);
    twin = one.next;
  }
}

void ScanProgram::NoteAt(unsigned id, int32_t location, const ScanClass& owner, uint64_t chains) {
  const int64_t number = owner.PatternOf(id);
  if (number < 0) return;
  const ScanPattern& pattern = owner.patterns[static_cast<size_t>(number)];
  if (pattern.target_id == kNoTarget || pattern.negated) return;
  if (((chains >> pattern.chain) & 1) == 0) return;
  if (work_.last_location[pattern.target_id] == location) return;
  work_.last_location[pattern.target_id] = location;
  if (count_ < capacity_) {
    hits_[2 * count_] = static_cast<int32_t>(pattern.target_id);
    hits_[2 * count_ + 1] = location;
  }
  ++count_;
}

}  // namespace waf
