// libinjection's test for SQL injection with a memory of the words it looked up, which is most of
// what it costs, and without it where a value begins with words that SQL does not know: the library
// reads six tokens at most, each of these is a name to it, and a row of names is no injection.
#ifndef WAF_NATIVE_SQL_WORDS_H
#define WAF_NATIVE_SQL_WORDS_H

#include <cstddef>
#include <cstdint>
#include <vector>

struct libinjection_sqli_state;

namespace waf {

class SqlWords {
 public:
  // Longer words are not remembered; so an entry has 32 bytes.
  static constexpr size_t kWordMax = 29;

  // Asks the library what it makes of rows of names, since another version may read otherwise.
  SqlWords();

  // libinjection's answer. `mask` holds the value's byte classes.
  bool IsInjection(const uint8_t* data, size_t size, uint32_t mask);

 private:
  struct Known {
    uint8_t word[kWordMax];
    uint8_t size = 0;
    char type = 0;
    bool begins_phrase = false;
  };

  static char LookUp(libinjection_sqli_state* state, int type, const char* word, size_t size);
  char TypeOf(libinjection_sqli_state* state, int type, const char* word, size_t size);
  bool IsListed(const uint8_t* fingerprint, size_t size);
  bool AreNames(const uint8_t* data, size_t size, uint32_t mask);
  bool IsName(const uint8_t* word, size_t size);
  const Known& Remember(const uint8_t* word, size_t size);

  bool usable_;
  // By a hash of the word; a later one takes the place of an earlier one.
  std::vector<Known> known_;
};

}  // namespace waf

#endif  // WAF_NATIVE_SQL_WORDS_H
