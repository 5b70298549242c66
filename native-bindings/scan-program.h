// The hot path: values in, (target id, row) hits out. Knows nothing of N-API.
//
// For a row the transformation trie of each of its classes is walked once; the classes of a value
// share what transformations make of it. Equal outputs are scanned once a group, with the smallest
// database that can match them; a match counts when its chain ends in that output. Plain outputs of
// many rows are joined, a line each, and scanned at once. Of a call with many rows, values that no
// transformation changes are joined once for all databases that search them. No allocation beyond
// growth of the workspace, which all programs of a thread share, and of what is known of groups.
#ifndef WAF_NATIVE_SCAN_PROGRAM_H
#define WAF_NATIVE_SCAN_PROGRAM_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hyperscan.h"
#include "scan-workspace.h"
#include "transformations.h"

namespace waf {

enum class TestKind : uint8_t {
  kSqli,
  kXss,
  kByteRange,
  kUrlEncoding,
  kUtf8,
  kPresent,  // every value
  kWithin,   // the value between `prefix` and `suffix` occurs in `text`
  kNumber,   // the value read as an integer compares so with `operand`
};
constexpr size_t kTestKinds = 8;

enum class NumberRelation : uint8_t { kEq, kGe, kGt, kLe, kLt };

constexpr uint32_t kNoTarget = 0xFFFFFFFFu;

struct ScanPattern {
  uint32_t target_id;  // kNoTarget: the id is not used
  uint8_t chain;
  bool negated;
};

// A database, by index, that holds the patterns of some chains.
struct TierPart {
  uint64_t chains;
  int32_t database;
};

// An output is scanned with those parts in whose chains it is. The other databases are indices, -1
// where there is nothing to look for. The one for lines is compiled with
// MULTILINE and serves values without a newline, joined by newlines; none of its patterns can
// match one. `guarded` is another such database, for those lines alone in which the database
// `guard` finds something.
struct ScanTier {
  uint32_t allowed_mask;
  std::vector<TierPart> parts;
  int32_t lines;
  int32_t guarded;
  int32_t guard;
};

struct ScanTest {
  uint32_t target_id;
  uint32_t skip_mask;
  uint8_t chain;
  bool negated;
  TestKind kind;
  uint8_t allowed[32];      // kByteRange
  NumberRelation relation;  // kNumber
  int64_t operand;          // kNumber
  std::string text;         // kWithin
  std::string prefix;
  std::string suffix;
};

// One transformation of a class's trie; step 0 is the value itself.
struct ScanStep {
  uint16_t parent;
  uint8_t transformation;
  bool always;
  uint32_t trigger;
  uint64_t chains;    // the chains that end here
  bool changed_only;  // they count only where the step changes the value
};

// By expression id of a database: the number of its pattern, -1 where nothing uses it.
using ExpressionOwners = std::vector<int32_t>;

struct ScanClass {
  std::vector<ScanStep> steps;
  // By pattern number; a word list is one pattern of many expressions.
  std::vector<ScanPattern> patterns;
  // Null: expression ids are pattern numbers.
  std::shared_ptr<const ExpressionOwners> owners;
  std::vector<uint32_t> negated;  // numbers of negated patterns
  std::vector<ScanTier> tiers;    // the first that allows a value serves it
  std::vector<ScanTest> tests;
  uint64_t all_chains = 0;
  uint64_t pattern_chains = 0;    // those that some pattern is searched for in
  uint64_t unchanged_chains = 0;  // what holds for values that no step changes
  uint32_t trigger_union = 0;
  bool always = false;

  // The number of the pattern that an expression belongs to; -1 when it is of none.
  int64_t PatternOf(unsigned expression) const {
    if (owners != nullptr) return expression < owners->size() ? (*owners)[expression] : -1;
    return expression < patterns.size() ? static_cast<int64_t>(expression) : -1;
  }
  size_t ExpressionCount() const { return owners != nullptr ? owners->size() : patterns.size(); }
  // The tier whose databases serve every value and tell each pattern once; null when there is none.
  const ScanTier* Whole() const {
    if (tiers.empty() || tiers.back().parts.empty()) return nullptr;
    return tiers.back().allowed_mask == 0xFFFFFFFFu ? &tiers.back() : nullptr;
  }
};

// How a call ended. After anything but kDone its hits are not all there are.
enum class ScanEnd : uint8_t {
  kDone,
  kFailed,     // Hyperscan returned an error
  kArenaFull,  // the outputs of one branch of transformations did not fit
};

struct ScanStats {
  uint64_t scans = 0;  // calls of hs_scan
  uint64_t bytes = 0;  // bytes given to them
  uint64_t rows = 0;
  uint64_t outputs = 0;     // distinct values that chains end in
  uint64_t skipped = 0;     // scans of them left out because nothing of the group can match
  uint64_t transforms = 0;  // transformations that ran
  uint64_t overflows = 0;   // transformations that did not fit the arena
  uint64_t tests = 0;       // tests that ran
  uint64_t matches = 0;     // matches that hs_scan told, however often the same one
  uint64_t abandoned = 0;   // scans of lines broken off because they told too many
};

// One search of a bundle: what it finds in the chains of its owner counts.
struct JoinedSearch {
  int32_t database;
  int32_t guard;  // -1: none
  const ScanClass* owner;
  uint64_t chains;
  bool operator==(const JoinedSearch& other) const {
    return database == other.database && guard == other.guard && owner == other.owner &&
           chains == other.chains;
  }
};

// The searches that lines are joined for.
using ScanBundle = std::vector<JoinedSearch>;

// A class that looks at each value by itself, with those of its steps that may change the value.
struct AloneClass {
  uint16_t id;
  std::vector<ScanStep> steps;
};

// What values with one mask of byte classes need: the bundle that they join, -1 for none, and the
// classes beside it.
struct ValueShape {
  uint32_t mask = 0;
  bool known = false;
  int32_t bundle = -1;
  std::vector<AloneClass> alone;
};

// The classes that look at one kind of value, and what is known of its shapes.
class ScanGroup {
 public:
  explicit ScanGroup(std::vector<uint16_t> ids) : classes(std::move(ids)) {}

  std::vector<uint16_t> classes;

 private:
  friend class ScanProgram;
  static constexpr size_t kShapes = 64;
  std::vector<ValueShape> shapes_;  // by a hash of the mask; none until the first is asked for
};

// Calls with few rows share scans between groups instead, which costs them less.
enum class ScanMode : uint8_t { kFewRows, kManyRows };

class ScanProgram {
 public:
  ScanProgram(std::vector<std::shared_ptr<DatabaseHandle>> databases,
              std::vector<ScanClass> classes, uint32_t target_count,
              std::vector<uint8_t> unicode_map, size_t arena_limit,
              std::shared_ptr<ScanWorkspace> workspace);
  ScanProgram(const ScanProgram&) = delete;
  ScanProgram& operator=(const ScanProgram&) = delete;
  ~ScanProgram() { work_.RemoveProgram(); }
  // Makes room for calls in the workspace; false when memory ran out.
  bool Prepare();

  size_t class_count() const { return classes_.size(); }
  // The group of one class.
  ScanGroup* GroupOf(uint16_t class_id) { return &singles_[class_id]; }
  uint32_t target_count() const { return target_count_; }
  ScanWorkspace& workspace() { return *workspace_; }
  uint32_t number() const { return number_; }
  // Writes pairs [target id, location], at most `capacity` of them; returns how many there are.
  // They are complete only where `end()` says kDone.
  size_t Scan(const ScanItem* items, size_t item_count, int32_t* hits, size_t capacity,
              ScanMode mode = ScanMode::kFewRows);
  ScanEnd end() const { return end_; }
  const ScanStats& stats() const { return stats_; }

 private:
  friend class BranchWalk;

  static int OnLineMatch(unsigned id, unsigned long long from, unsigned long long to,
                         unsigned flags, void* context);
  static int OnSuspect(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                       void* context);
  void AddLine(int32_t lines, const uint8_t* data, uint32_t size);
  bool AddTwin(LineBatch* batch, const uint8_t* data, uint32_t size) const;
  void ScanFullBatches();
  void ScanLines(size_t database);
  void SearchLines(size_t database, int32_t guard, LineBatch* batch);
  LineBatch* Suspects(int32_t guard, LineBatch* batch);
  // False when the scan was broken off.
  bool ScanJoined(size_t database, LineBatch* batch, size_t bound);
  void ScanApart(size_t database, LineBatch* batch);
  void FindLine(uint64_t to);
  void NoteLine(unsigned id);
  void NoteAt(unsigned id, int32_t location, const ScanClass& owner, uint64_t chains);
  void ScanAlone(const uint8_t* data, size_t size, int32_t location, const ScanClass* owner,
                 uint64_t chains);

  const ValueShape& ShapeOf(ScanGroup* group, uint32_t mask);
  void DrawShape(const ScanGroup& group, uint32_t mask, ValueShape* shape);
  bool Joins(const ScanClass& one, uint32_t mask, ScanBundle* bundle) const;
  int32_t BundleOf(const ScanBundle& wanted);
  void ScanByShape(const ScanItem& item, uint32_t mask);
  void AddBundled(int32_t bundle, const ScanItem& item);
  void ScanBundled(size_t bundle);

  static int OnMatch(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                     void* context);
  void ScanValue(uint16_t class_id, const ScanItem& item, uint32_t mask);
  void ScanShaped(const AloneClass& one, const ScanItem& item, uint32_t mask);
  void ScanTransformed(const std::vector<ScanStep>& steps, const ScanItem& item, uint32_t mask);
  bool Transform(const std::vector<ScanStep>& steps, const ScanItem& item, uint32_t mask,
                 bool is_new);
  int32_t RunStep(const ScanStep& step, uint16_t parent);
  // For a value whose outputs do not fit the arena together.
  void ScanBranches(const ScanItem& item, uint32_t mask);
  uint16_t AddOutput(const uint8_t* data, uint32_t size, uint32_t mask);
  void ScanOutput(const uint8_t* data, uint32_t size, uint32_t mask, uint64_t chains);
  void ScanPatterns(const uint8_t* data, uint32_t size, uint32_t mask);
  void ScanParts(const ScanTier& tier, const uint8_t* data, size_t size);
  void Search(size_t database, const uint8_t* data, size_t size, match_event_handler on_match);
  void RunTests(const uint8_t* data, uint32_t size, uint32_t mask);
  void Emit(uint32_t target_id);
  void NextRow();
  uint32_t NextScan();

  std::vector<std::shared_ptr<DatabaseHandle>> databases_;
  std::vector<ScanClass> classes_;
  std::vector<ScanGroup> singles_;
  std::vector<ScanBundle> bundles_;
  std::vector<uint8_t> unicode_map_;
  TransformContext context_;
  uint32_t target_count_;
  size_t arena_limit_;
  // Of the thread; `work_` is the same.
  std::shared_ptr<ScanWorkspace> workspace_;
  ScanWorkspace& work_;
  uint32_t number_;

  // The state of the running call.
  const ScanClass* class_ = nullptr;
  LineBatch* batch_ = nullptr;
  bool lines_full_ = false;
  // True where the outputs are what other classes' chains made of the value.
  bool transformed_ = false;
  uint64_t chains_ = 0;
  int32_t location_ = 0;
  int32_t* hits_ = nullptr;
  size_t capacity_ = 0;
  size_t count_ = 0;
  ScanEnd end_ = ScanEnd::kDone;
  ScanStats stats_;
};

}  // namespace waf

#endif  // WAF_NATIVE_SCAN_PROGRAM_H
