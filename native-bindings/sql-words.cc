// The implementation of sql-words.h.
#include "sql-words.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <string>

#include "byte-class.h"
#include "injection.h"

// The first words of the phrases that the linked libinjection knows, such as UNION of UNION ALL,
// with commas between them; nothing where the build did not find them.
#ifndef WAF_SQL_PHRASES
#define WAF_SQL_PHRASES
#endif
#define WAF_TEXT_OF(...) #__VA_ARGS__
#define WAF_TEXT(...) WAF_TEXT_OF(__VA_ARGS__)

namespace waf {

namespace {

// libinjection folds a value to five tokens and reads one more.
constexpr size_t kTokens = 6;
constexpr size_t kKnownWords = 2048;
// What the library asks for: a word, or whether the fingerprint of its state is an injection.
constexpr int kWord = 1;
constexpr int kFingerprint = 4;
// A value with quotes is read again as if it began inside a string.
constexpr uint32_t kQuotes = MaskOf(kSingleQuote) | MaskOf(kDoubleQuote);
constexpr uint32_t kLetters = MaskOf(kLower) | MaskOf(kUpper);
constexpr uint32_t kWordBytes = kLetters | MaskOf(kDigit) | MaskOf(kUnderscore);

const char kPhrases[] = "," WAF_TEXT(WAF_SQL_PHRASES) ",";

// The library's state, whose layout only it knows: some 560 bytes. It hands the state's address to
// the look-up, which finds its owner before it.
struct State {
  SqlWords* owner = nullptr;
  alignas(16) uint8_t bytes[2048];

  libinjection_sqli_state* get() { return reinterpret_cast<libinjection_sqli_state*>(bytes); }
  static SqlWords* OwnerOf(libinjection_sqli_state* state) {
    return reinterpret_cast<State*>(reinterpret_cast<uint8_t*>(state) - offsetof(State, bytes))
        ->owner;
  }
};
constexpr size_t kStateUsed = 1024;

uint32_t HashOf(const uint8_t* word, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ word[i]) * 16777619u;
  return hash ^ (hash >> 15);
}

// A bit for the hash of each first word: most words are none of them.
class FirstWords {
 public:
  FirstWords() {
    const char* word = kPhrases + 1;
    for (const char* comma = std::strchr(word, ','); comma != nullptr;
         word = comma + 1, comma = std::strchr(word, ',')) {
      const size_t size = static_cast<size_t>(comma - word);
      bits_.set(HashOf(reinterpret_cast<const uint8_t*>(word), size) % kBits);
    }
  }
  bool MayHold(const char* word, size_t size) const {
    return bits_.test(HashOf(reinterpret_cast<const uint8_t*>(word), size) % kBits);
  }

 private:
  static constexpr size_t kBits = 1 << 16;
  std::bitset<kBits> bits_;
};

// True for a word with other bytes than the build looks for, too.
bool BeginsPhrase(const uint8_t* word, size_t size) {
  static const FirstWords first_words;
  char wanted[SqlWords::kWordMax + 3] = ",";
  for (size_t i = 0; i < size; ++i) {
    const uint8_t c = word[i];
    if ((kByteMask.bit[c] & kWordBytes) == 0 && c != '.') return true;
    wanted[i + 1] = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  if (!first_words.MayHold(wanted + 1, size)) return false;
  wanted[size + 1] = ',';
  wanted[size + 2] = '\0';
  return std::strstr(kPhrases, wanted) != nullptr;
}

bool FindsNothing(const std::string& value) {
  char fingerprint[8] = {0};
  return !IsSqli(reinterpret_cast<const uint8_t*>(value.data()), value.size(), fingerprint);
}

// True when rows of names are no injection to the library, only their beginning counts, and its
// state is as large as it is taken to be.
bool ReadsAsExpected() {
  if (sizeof(kPhrases) < 16) return false;
  std::string names;
  for (size_t i = 0; i < kTokens; ++i) {
    names += i == 0 ? "zqv" : " zqv";
    if (!FindsNothing(names)) return false;
  }
  if (!FindsNothing(names + " union select 1 from zqv -- ")) return false;
  State state;
  std::fill(state.bytes, state.bytes + sizeof(state.bytes), uint8_t{0xA5});
  const char attack[] = "1' or '1'='1";
  libinjection_sqli_init(state.get(), attack, sizeof(attack) - 1, 0);
  if (libinjection_is_sqli(state.get()) != 1) return false;
  return std::all_of(state.bytes + kStateUsed, state.bytes + sizeof(state.bytes),
                     [](uint8_t byte) { return byte == 0xA5; });
}

}  // namespace

SqlWords::SqlWords() : usable_(ReadsAsExpected()) {
  if (usable_) known_.resize(kKnownWords);
}

bool SqlWords::IsInjection(const uint8_t* data, size_t size, uint32_t mask) {
  char fingerprint[8];
  if (!usable_) return IsSqli(data, size, fingerprint);
  if (AreNames(data, size, mask)) return false;
  State state;
  state.owner = this;
  libinjection_sqli_init(state.get(), reinterpret_cast<const char*>(data), size, 0);
  libinjection_sqli_callback(state.get(), LookUp, nullptr);
  return libinjection_is_sqli(state.get()) == 1;
}

char SqlWords::LookUp(libinjection_sqli_state* state, int type, const char* word, size_t size) {
  return State::OwnerOf(state)->TypeOf(state, type, word, size);
}

char SqlWords::TypeOf(libinjection_sqli_state* state, int type, const char* word, size_t size) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(word);
  if (type == kFingerprint && !IsListed(bytes, size)) return 0;
  if (type == kFingerprint || size > kWordMax || size == 0) {
    return libinjection_sqli_lookup_word(state, type, word, size);
  }
  const void* space = std::memchr(word, ' ', size);
  if (space == nullptr) return Remember(bytes, size).type;
  const size_t first = static_cast<size_t>(static_cast<const char*>(space) - word);
  if (first > 0 && !Remember(bytes, first).begins_phrase) return 0;
  return libinjection_sqli_lookup_word(state, type, word, size);
}

// The library's list has fingerprints among its words, after a zero.
bool SqlWords::IsListed(const uint8_t* fingerprint, size_t size) {
  uint8_t word[kWordMax] = {'0'};
  if (size >= kWordMax) return true;
  std::memcpy(word + 1, fingerprint, size);
  return Remember(word, size + 1).type != 0;
}

bool SqlWords::AreNames(const uint8_t* data, size_t size, uint32_t mask) {
  if ((mask & kQuotes) != 0) return false;
  size_t at = 0;
  for (size_t token = 0; token < kTokens; ++token) {
    while (at < size && data[at] == ' ') ++at;
    if (at == size) return true;
    const size_t start = at;
    if ((kByteMask.bit[data[at]] & kLetters) == 0) return false;
    // A word continues after a dot unless what stands before the dot is known by itself.
    for (;; ++at) {
      while (at < size && (kByteMask.bit[data[at]] & kWordBytes) != 0) ++at;
      if (!IsName(data + start, at - start)) return false;
      if (at == size || data[at] != '.') break;
    }
    if (at < size && data[at] != ' ') return false;
  }
  return true;
}

bool SqlWords::IsName(const uint8_t* word, size_t size) {
  if (size > kWordMax) return false;
  const Known& known = Remember(word, size);
  return known.type == 0 && !known.begins_phrase;
}

const SqlWords::Known& SqlWords::Remember(const uint8_t* word, size_t size) {
  Known& known = known_[HashOf(word, size) & (kKnownWords - 1)];
  if (known.size == size && std::memcmp(known.word, word, size) == 0) return known;
  std::memcpy(known.word, word, size);
  known.size = static_cast<uint8_t>(size);
  const char* text = reinterpret_cast<const char*>(word);
  known.type = libinjection_sqli_lookup_word(nullptr, kWord, text, size);
  known.begins_phrase = BeginsPhrase(word, size);
  return known;
}

}  // namespace waf
