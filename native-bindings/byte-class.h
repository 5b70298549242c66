// The partition of the 256 byte values into 32 classes. A value's class mask (one bit a class)
// says cheaply what a transformation or a group of patterns can possibly do with it.
#ifndef WAF_NATIVE_BYTE_CLASS_H
#define WAF_NATIVE_BYTE_CLASS_H

#include <cstddef>
#include <cstdint>

namespace waf {

enum ByteClass : uint8_t {
  kLower = 0,
  kUpper,
  kDigit,
  kUnderscore,
  kSpace,
  kWhitespace,
  kNbsp,
  kNul,
  kControl,
  kPercent,
  kPlus,
  kAmpersand,
  kSemicolon,
  kEquals,
  kBackslash,
  kSlash,
  kAsterisk,
  kHyphen,
  kHash,
  kDoubleQuote,
  kSingleQuote,
  kBacktick,
  kCaret,
  kComma,
  kDot,
  kColon,
  kAngle,
  kDollar,
  kParenthesis,
  kPipe,
  kPunctuation,
  kHigh,
};

constexpr uint8_t ClassOfByte(unsigned c) {
  if (c >= 'a' && c <= 'z') return kLower;
  if (c >= 'A' && c <= 'Z') return kUpper;
  if (c >= '0' && c <= '9') return kDigit;
  if (c == 0xA0) return kNbsp;
  if (c >= 0x80) return kHigh;
  switch (c) {
    case '_':
      return kUnderscore;
    case ' ':
      return kSpace;
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
      return kWhitespace;
    case 0:
      return kNul;
    case '%':
      return kPercent;
    case '+':
      return kPlus;
    case '&':
      return kAmpersand;
    case ';':
      return kSemicolon;
    case '=':
      return kEquals;
    case '\\':
      return kBackslash;
    case '/':
      return kSlash;
    case '*':
      return kAsterisk;
    case '-':
      return kHyphen;
    case '#':
      return kHash;
    case '"':
      return kDoubleQuote;
    case '\'':
      return kSingleQuote;
    case '`':
      return kBacktick;
    case '^':
      return kCaret;
    case ',':
      return kComma;
    case '.':
      return kDot;
    case ':':
      return kColon;
    case '<':
    case '>':
      return kAngle;
    case '$':
      return kDollar;
    case '(':
    case ')':
      return kParenthesis;
    case '|':
      return kPipe;
    default:
      return (c < 0x20 || c == 0x7F) ? kControl : kPunctuation;
  }
}

struct ByteMaskTable {
  uint32_t bit[256];
  constexpr ByteMaskTable() : bit() {
    for (unsigned c = 0; c < 256; ++c) bit[c] = uint32_t{1} << ClassOfByte(c);
  }
};
inline constexpr ByteMaskTable kByteMask{};

constexpr uint32_t MaskOf(ByteClass c) { return uint32_t{1} << c; }

// Union of the class bits of n bytes; four independent lanes so that loads overlap.
inline uint32_t MaskOfBytes(const uint8_t* p, size_t n) {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    a |= kByteMask.bit[p[i]];
    b |= kByteMask.bit[p[i + 1]];
    c |= kByteMask.bit[p[i + 2]];
    d |= kByteMask.bit[p[i + 3]];
  }
  for (; i < n; ++i) a |= kByteMask.bit[p[i]];
  return a | b | c | d;
}

}  // namespace waf

#endif  // WAF_NATIVE_BYTE_CLASS_H
