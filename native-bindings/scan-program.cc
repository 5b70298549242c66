// The implementation of scan-program.h.
#include "scan-program.h"

#include <algorithm>
#include <cstring>

#include "byte-class.h"
#include "injection.h"
#include "validate.h"

namespace waf {

namespace {

// Classes that look at the same value share what its transformations make of it, up to this length
// of the value; all of it is in memory at once.
constexpr uint32_t kSharedValueMax = 16 * 1024;

}  // namespace

ScanProgram::ScanProgram(std::vector<std::shared_ptr<DatabaseHandle>> databases,
                         std::vector<ScanClass> classes, uint32_t target_count,
                         std::vector<uint8_t> unicode_map, size_t arena_limit,
                         std::shared_ptr<ScanWorkspace> workspace)
    : databases_(std::move(databases)),
      classes_(std::move(classes)),
      unicode_map_(std::move(unicode_map)),
      target_count_(target_count),
      arena_limit_(arena_limit),
      workspace_(std::move(workspace)),
      work_(*workspace_),
      number_(work_.AddProgram()) {
  if (!unicode_map_.empty()) context_.unicode_map = unicode_map_.data();
  for (size_t id = 0; id < classes_.size(); ++id) {
    singles_.emplace_back(std::vector<uint16_t>{static_cast<uint16_t>(id)});
  }
}

bool ScanProgram::Prepare() {
  size_t steps = 1;
  size_t expressions = 0;
  for (const ScanClass& c : classes_) {
    steps = std::max(steps, c.steps.size());
    expressions = std::max({expressions, c.ExpressionCount(), c.patterns.size()});
  }
  work_.Fit(steps, expressions, target_count_, databases_.size());
  for (const auto& database : databases_) {
    if (!work_.scratch.Grow(database->get())) return false;
  }
  return true;
}

size_t ScanProgram::Scan(const ScanItem* items, size_t item_count, int32_t* hits, size_t capacity,
                         ScanMode mode) {
  hits_ = hits;
  capacity_ = capacity;
  count_ = 0;
  end_ = ScanEnd::kDone;
  for (size_t i = 0; i < item_count && end_ == ScanEnd::kDone; ++i) {
    const ScanItem& item = items[i];
    const uint32_t mask = MaskOfBytes(item.data, item.size);
    stats_.rows += item.group->classes.size();
    transformed_ = false;
    if (mode == ScanMode::kManyRows) {
      ScanByShape(item, mask);
    } else {
      for (const uint16_t id : item.group->classes) {
        if (end_ == ScanEnd::kDone) ScanValue(id, item, mask);
      }
    }
    // Between values: what is known of a row's scans does not outlive other scans.
    if (lines_full_) ScanFullBatches();
  }
  while (!work_.waiting.empty()) ScanLines(work_.waiting.back());
  if (mode == ScanMode::kManyRows) {
    for (size_t i = 0; i < bundles_.size(); ++i) ScanBundled(i);
  }
  return count_;
}

// Looks at a value for one class. Classes of one value follow each other.
void ScanProgram::ScanValue(uint16_t class_id, const ScanItem& item, uint32_t mask) {
  class_ = &classes_[class_id];
  if (class_->all_chains == 0) return;
  location_ = item.location;
  NextRow();
  if (class_->always || (mask & class_->trigger_union) != 0) {
    ScanTransformed(class_->steps, item, mask);
  } else if (class_->unchanged_chains != 0) {
    ScanOutput(item.data, item.size, mask, class_->unchanged_chains);
  }
}

void ScanProgram::ScanTransformed(const std::vector<ScanStep>& steps, const ScanItem& item,
                                  uint32_t mask) {
  if (!Transform(steps, item, mask, !transformed_)) {
    transformed_ = false;
    ScanBranches(item, mask);
    return;
  }
  transformed_ = item.size <= kSharedValueMax;
  for (size_t k = 0; k < work_.output_count; ++k) {
    const RowOutput& output = work_.outputs[k];
    if (output.chains != 0) ScanOutput(output.data, output.size, output.mask, output.chains);
  }
}

// Fills the outputs with the distinct values of the row, each with the chains of the class that end
// in it. Where the value is not new, what other classes' chains made of it stays, with no chains.
// False where they do not fit the arena together.
bool ScanProgram::Transform(const std::vector<ScanStep>& steps, const ScanItem& item, uint32_t mask,
                            bool is_new) {
  if (is_new || work_.output_count + steps.size() > work_.outputs.size()) {
    work_.arena.Reset();
    work_.output_count = 0;
    AddOutput(item.data, item.size, mask);
  }
  for (size_t k = 0; k < work_.output_count; ++k) work_.outputs[k].chains = 0;
  work_.output_of_step[0] = 0;
  work_.outputs[0].chains = steps[0].chains;
  for (size_t i = 1; i < steps.size(); ++i) {
    const ScanStep& step = steps[i];
    uint16_t at = work_.output_of_step[step.parent];
    RowOutput& parent = work_.outputs[at];
    if (step.always || (parent.mask & step.trigger) != 0) {
      const uint64_t bit = uint64_t{1} << step.transformation;
      if ((parent.tried & bit) == 0) {
        const int32_t output = RunStep(step, at);
        if (output < 0) return false;
        parent.result[step.transformation] = static_cast<uint16_t>(output);
        parent.tried |= bit;
      }
      at = parent.result[step.transformation];
    }
    work_.output_of_step[i] = at;
    if (step.changed_only && at == work_.output_of_step[step.parent]) continue;
    work_.outputs[at].chains |= step.chains;
  }
  return true;
}

uint16_t ScanProgram::AddOutput(const uint8_t* data, uint32_t size, uint32_t mask) {
  RowOutput& output = work_.outputs[work_.output_count];
  output.data = data;
  output.size = size;
  output.mask = mask;
  output.chains = 0;
  output.tried = 0;
  return static_cast<uint16_t>(work_.output_count++);
}

// Runs one transformation; the index of its output among the distinct ones, -1 where it does not
// fit the arena.
int32_t ScanProgram::RunStep(const ScanStep& step, uint16_t parent) {
  const Transformation& t = kTransformations[step.transformation];
  const uint8_t* data = work_.outputs[parent].data;
  const uint32_t length = work_.outputs[parent].size;
  uint8_t* out = work_.arena.Reserve(OutputBound(t, length) + 1, arena_limit_);
  if (out == nullptr) return -1;
  ++stats_.transforms;
  const size_t size = t.run(data, length, out, context_);
  for (size_t k = 0; k < work_.output_count; ++k) {
    const RowOutput& other = work_.outputs[k];
    if (other.size == size && std::memcmp(other.data, out, size) == 0) {
      return static_cast<int32_t>(k);
    }
  }
  work_.arena.Commit(size);
  return AddOutput(out, static_cast<uint32_t>(size), MaskOfBytes(out, size));
}

void ScanProgram::ScanOutput(const uint8_t* data, uint32_t size, uint32_t mask, uint64_t chains) {
  ++stats_.outputs;
  chains_ = chains;
  NextScan();
  if ((chains & class_->pattern_chains) != 0) {
    ScanPatterns(data, size, mask);
  } else {
    ++stats_.skipped;
  }
  for (const uint32_t id : class_->negated) {
    const ScanPattern& pattern = class_->patterns[id];
    const bool present = ((chains_ >> pattern.chain) & 1) != 0;
    if (present && work_.pattern_stamp[id] != work_.scan_epoch) Emit(pattern.target_id);
  }
  if (!class_->tests.empty()) RunTests(data, size, mask);
}

void ScanProgram::ScanPatterns(const uint8_t* data, uint32_t size, uint32_t mask) {
  const ScanTier* found = nullptr;
  for (const ScanTier& tier : class_->tiers) {
    if ((mask & ~tier.allowed_mask) != 0) continue;
    found = &tier;
    break;
  }
  if (found == nullptr || (found->parts.empty() && found->lines < 0 && found->guarded < 0)) {
    ++stats_.skipped;
    return;
  }
  if (found->lines >= 0) AddLine(found->lines, data, size);
  if (found->guarded >= 0) {
    AddLine(found->guarded, data, size);
    work_.batches[static_cast<size_t>(found->guarded)].guard = found->guard;
  }
  ScanParts(*found, data, size);
}

void ScanProgram::ScanParts(const ScanTier& tier, const uint8_t* data, size_t size) {
  for (const TierPart& part : tier.parts) {
    if ((part.chains & chains_) == 0) continue;
    Search(static_cast<size_t>(part.database), data, size, OnMatch);
  }
}

// Whatever Hyperscan returns is an error, but success and the end that a callback of ours asked
// for.
void ScanProgram::Search(size_t database, const uint8_t* data, size_t size,
                         match_event_handler on_match) {
  ++stats_.scans;
  stats_.bytes += size;
  const hs_error_t error =
      hs_scan(databases_[database]->get(), reinterpret_cast<const char*>(data),
              static_cast<unsigned>(size), 0, work_.scratch.get(), on_match, this);
  if (error != HS_SUCCESS && error != HS_SCAN_TERMINATED) end_ = ScanEnd::kFailed;
}

int ScanProgram::OnMatch(unsigned id, unsigned long long, unsigned long long, unsigned,
                         void* context) {
  auto* self = static_cast<ScanProgram*>(context);
  ++self->stats_.matches;
  const int64_t number = self->class_->PatternOf(id);
  if (number < 0) return 0;
  const ScanPattern& pattern = self->class_->patterns[static_cast<size_t>(number)];
  if (((self->chains_ >> pattern.chain) & 1) == 0 || pattern.target_id == kNoTarget) return 0;
  if (pattern.negated) {
    self->work_.pattern_stamp[static_cast<size_t>(number)] = self->work_.scan_epoch;
  } else {
    self->Emit(pattern.target_id);
  }
  return 0;
}

namespace {

// The leading integer as C's atoll reads it; beyond 64 bits it stays at the end of the range.
int64_t ReadInteger(const uint8_t* data, size_t size) {
  size_t at = 0;
  while (at < size && (data[at] == ' ' || (data[at] >= '\t' && data[at] <= '\r'))) ++at;
  const bool negative = at < size && data[at] == '-';
  if (at < size && (data[at] == '-' || data[at] == '+')) ++at;
  int64_t value = 0;
  for (; at < size && data[at] >= '0' && data[at] <= '9'; ++at) {
    const int64_t digit = data[at] - '0';
    if (negative) {
      if (value < (INT64_MIN + digit) / 10) return INT64_MIN;
      value = value * 10 - digit;
    } else {
      if (value > (INT64_MAX - digit) / 10) return INT64_MAX;
      value = value * 10 + digit;
    }
  }
  return value;
}

bool Compares(int64_t value, NumberRelation relation, int64_t operand) {
  switch (relation) {
    case NumberRelation::kEq:
      return value == operand;
    case NumberRelation::kGe:
      return value >= operand;
    case NumberRelation::kGt:
      return value > operand;
    case NumberRelation::kLe:
      return value <= operand;
    case NumberRelation::kLt:
      return value < operand;
  }
  return false;
}

// Does prefix + value + suffix occur in the text?
bool IsWithin(const ScanTest& test, const uint8_t* data, size_t size) {
  const std::string& text = test.text;
  const size_t before = test.prefix.size();
  const size_t total = before + size + test.suffix.size();
  const char* value = reinterpret_cast<const char*>(data);
  for (size_t at = 0; at + total <= text.size(); ++at) {
    if (text.compare(at, before, test.prefix) == 0 &&
        text.compare(at + before, size, value, size) == 0 &&
        text.compare(at + before + size, test.suffix.size(), test.suffix) == 0) {
      return true;
    }
  }
  return false;
}

// Tests of one kind may differ.
bool HasArgument(TestKind kind) {
  return kind == TestKind::kByteRange || kind == TestKind::kWithin || kind == TestKind::kNumber;
}

bool RunTest(const ScanTest& test, const uint8_t* data, size_t size, uint32_t mask,
             SqlWords* sql_words) {
  switch (test.kind) {
    case TestKind::kSqli:
      return sql_words->IsInjection(data, size, mask);
    case TestKind::kXss:
      return IsXss(data, size);
    case TestKind::kByteRange:
      return OutsideByteRange(data, size, test.allowed);
    case TestKind::kUrlEncoding:
      return BadUrlEncoding(data, size);
    case TestKind::kUtf8:
      return BadUtf8(data, size);
    case TestKind::kPresent:
      return true;
    case TestKind::kWithin:
      return IsWithin(test, data, size);
    case TestKind::kNumber:
      return Compares(ReadInteger(data, size), test.relation, test.operand);
  }
  return false;
}

}  // namespace

void ScanProgram::RunTests(const uint8_t* data, uint32_t size, uint32_t mask) {
  // One answer a kind and output: several rules ask the same of the same bytes.
  int8_t known[kTestKinds];
  std::fill(known, known + kTestKinds, int8_t{-1});
  for (const ScanTest& test : class_->tests) {
    if (((chains_ >> test.chain) & 1) == 0) continue;
    const bool skip = test.skip_mask != 0 && (mask & ~test.skip_mask) == 0;
    bool match = false;
    if (!skip) {
      int8_t& memory = known[static_cast<size_t>(test.kind)];
      if (memory < 0 || HasArgument(test.kind)) {
        ++stats_.tests;
        memory = RunTest(test, data, size, mask, &work_.sql_words) ? 1 : 0;
      }
      match = memory == 1;
    }
    if (match != test.negated) Emit(test.target_id);
  }
}

void ScanProgram::Emit(uint32_t target_id) {
  if (work_.target_stamp[target_id] == work_.row_epoch) return;
  work_.target_stamp[target_id] = work_.row_epoch;
  if (count_ < capacity_) {
    hits_[2 * count_] = static_cast<int32_t>(target_id);
    hits_[2 * count_ + 1] = location_;
  }
  ++count_;
}

void ScanProgram::NextRow() {
  if (++work_.row_epoch != 0) return;
  std::fill(work_.target_stamp.begin(), work_.target_stamp.end(), 0);
  work_.row_epoch = 1;
}

uint32_t ScanProgram::NextScan() {
  if (++work_.scan_epoch == 0) {
    std::fill(work_.pattern_stamp.begin(), work_.pattern_stamp.end(), 0);
    work_.scan_epoch = 1;
  }
  return work_.scan_epoch;
}

}  // namespace waf
