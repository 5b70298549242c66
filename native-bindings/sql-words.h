// Which values libinjection need not look at: those that begin with words that SQL does not know.
// It reads six tokens at most, and each of these is a name to it; a row of names is no injection.
#ifndef WAF_NATIVE_SQL_WORDS_H
#define WAF_NATIVE_SQL_WORDS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace waf {

class SqlWords {
 public:
  // Asks the library what it makes of rows of names, since another version may read otherwise.
  SqlWords();

  // True where libinjection is known to find nothing. `mask` holds the value's byte classes.
  // Cost: the first six words; one look-up of the library for each that was not met lately.
  bool AreNames(const uint8_t* data, size_t size, uint32_t mask);

 private:
  static constexpr size_t kWordMax = 24;
  struct Known {
    uint8_t word[kWordMax];
    uint8_t size = 0;
    bool is_name = false;
  };

  bool IsName(const uint8_t* word, size_t size);

  bool usable_;
  // By a hash of the word; a later one takes the place of an earlier one.
  std::vector<Known> known_;
};

}  // namespace waf

#endif  // WAF_NATIVE_SQL_WORDS_H
