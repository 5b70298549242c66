// The transformations that drop, fold or replace single characters: case, whitespace, NULs,
// comments, trimming, command lines, parity, PHP argument names.
#include <cstring>

#include "hex.h"
#include "transformations.h"

namespace waf {

WAF_TRANSFORM(Lowercase) {
  (void)context;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t c = in[i];
    out[i] = static_cast<uint8_t>(c + (static_cast<uint8_t>(c - 'A') < 26 ? 32 : 0));
  }
  return n;
}

WAF_TRANSFORM(Uppercase) {
  (void)context;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t c = in[i];
    out[i] = static_cast<uint8_t>(c - (static_cast<uint8_t>(c - 'a') < 26 ? 32 : 0));
  }
  return n;
}

WAF_TRANSFORM(CompressWhitespace) {
  (void)context;
  static constexpr ByteTable kSpaces{" \t\n\v\f\r"};
  size_t o = 0;
  bool in_space = false;
  for (size_t i = 0; i < n; ++i) {
    const bool space = kSpaces.has[in[i]];
    out[o] = space ? ' ' : in[i];
    o += space && in_space ? 0 : 1;
    in_space = space;
  }
  return o;
}

namespace {

size_t Without(const ByteTable& dropped, const uint8_t* in, size_t n, uint8_t* out) {
  size_t o = 0;
  for (size_t i = 0; i < n; ++i) {
    out[o] = in[i];
    o += dropped.has[in[i]] ? 0 : 1;
  }
  return o;
}

}  // namespace

WAF_TRANSFORM(FillersRemoved) {
  (void)context;
  static constexpr ByteTable kDropped{"\"'\\^)["};
  return Without(kDropped, in, n, out);
}

// The no-break space goes too: the byte 0xA0 and its UTF-8 lead byte 0xC2, each wherever it stands.
// compressWhitespace leaves both.
WAF_TRANSFORM(RemoveWhitespace) {
  (void)context;
  static constexpr ByteTable kDropped{" \t\n\v\f\r\xa0\xc2"};
  return Without(kDropped, in, n, out);
}

WAF_TRANSFORM(RemoveNulls) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n; ++i) {
    if (in[i] != 0) out[o++] = in[i];
  }
  return o;
}

WAF_TRANSFORM(ReplaceNulls) {
  (void)context;
  for (size_t i = 0; i < n; ++i) out[i] = in[i] == 0 ? ' ' : in[i];
  return n;
}

namespace {

size_t CopyTrimmed(const uint8_t* in, size_t n, uint8_t* out, bool left, bool right) {
  size_t start = 0;
  size_t end = n;
  while (left && start < end && IsSpace(in[start])) ++start;
  while (right && end > start && IsSpace(in[end - 1])) --end;
  if (end > start) std::memcpy(out, in + start, end - start);
  return end - start;
}

inline bool StartsWith(const uint8_t* in, size_t n, size_t at, const char* text, size_t length) {
  return n - at >= length && std::memcmp(in + at, text, length) == 0;
}

}  // namespace

WAF_TRANSFORM(Trim) {
  (void)context;
  return CopyTrimmed(in, n, out, true, true);
}

WAF_TRANSFORM(TrimLeft) {
  (void)context;
  return CopyTrimmed(in, n, out, true, false);
}

WAF_TRANSFORM(TrimRight) {
  (void)context;
  return CopyTrimmed(in, n, out, false, true);
}

// The byte after a closing mark is copied as it is, even when it would open a comment; at the end
// of the value that byte is a NUL. A comment that does not close becomes one space, `--` and `#`
// cut the rest off. All of this is what ModSecurity does.
WAF_TRANSFORM(RemoveComments) {
  (void)context;
  static constexpr ByteTable kOpenings{"/<-#"};
  size_t i = 0;
  size_t o = 0;
  bool inside = false;
  while (i < n) {
    if (!inside) {
      if (!kOpenings.has[in[i]]) {
        out[o++] = in[i++];
      } else if (StartsWith(in, n, i, "/*", 2)) {
        inside = true;
        i += 2;
      } else if (StartsWith(in, n, i, "<!--", 4)) {
        inside = true;
        i += 4;
      } else if (StartsWith(in, n, i, "--", 2) || in[i] == '#') {
        break;
      } else {
        out[o++] = in[i++];
      }
      continue;
    }
    const size_t close = StartsWith(in, n, i, "*/", 2) ? 2 : StartsWith(in, n, i, "-->", 3) ? 3 : 0;
    if (close == 0) {
      ++i;
      continue;
    }
    inside = false;
    i += close;
    out[o++] = i < n ? in[i] : 0;
    ++i;
  }
  if (inside) out[o++] = ' ';
  return o;
}

WAF_TRANSFORM(RemoveCommentsChar) {
  (void)context;
  static constexpr ByteTable kMarks{"/*<-#"};
  size_t i = 0;
  size_t o = 0;
  while (i < n) {
    if (!kMarks.has[in[i]]) {
      out[o++] = in[i++];
    } else if (StartsWith(in, n, i, "/*", 2) || StartsWith(in, n, i, "*/", 2)) {
      i += 2;
    } else if (StartsWith(in, n, i, "<!--", 4)) {
      i += 4;
    } else if (StartsWith(in, n, i, "-->", 3)) {
      i += 3;
    } else if (StartsWith(in, n, i, "--", 2)) {
      i += 2;
    } else if (in[i] == '#') {
      ++i;
    } else {
      out[o++] = in[i++];
    }
  }
  return o;
}

WAF_TRANSFORM(ReplaceComments) {
  (void)context;
  size_t i = 0;
  size_t o = 0;
  bool inside = false;
  while (i < n) {
    if (!inside && StartsWith(in, n, i, "/*", 2)) {
      inside = true;
      i += 2;
    } else if (inside && StartsWith(in, n, i, "*/", 2)) {
      inside = false;
      i += 2;
      out[o++] = ' ';
    } else if (inside) {
      ++i;
    } else {
      out[o++] = in[i++];
    }
  }
  if (inside) out[o++] = ' ';
  return o;
}

namespace {

// What cmdLine does with a byte: drop it, copy it in lower case, make it a blank, or drop the
// blank before it and copy it. A bit each.
enum CommandAction : uint8_t { kDrop = 0, kCopy = 1, kBlank = 2, kJoin = 4 };

struct CommandTable {
  uint8_t action[256];
  uint8_t written[256];
  constexpr CommandTable() : action(), written() {
    for (int c = 0; c < 256; ++c) {
      action[c] = kCopy;
      written[c] = static_cast<uint8_t>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    Mark("\"'\\^", kDrop);
    Mark(" ,;\t\r\n", kBlank);
    Mark("/(", kCopy | kJoin);
  }
  constexpr void Mark(const char* bytes, uint8_t what) {
    for (; *bytes != '\0'; ++bytes) {
      const auto c = static_cast<uint8_t>(*bytes);
      action[c] = what;
      if (what == kBlank) written[c] = ' ';
    }
  }
};
constexpr CommandTable kCommandTable;

}  // namespace

// Without branches: blanks come at random. A byte that is not kept is written over by the next.
WAF_TRANSFORM(CmdLine) {
  (void)context;
  size_t o = 0;
  // 1 where the last byte written is a blank.
  size_t space = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t action = kCommandTable.action[in[i]];
    const size_t copies = action & kCopy;
    const size_t blank = (action & kBlank) / kBlank;
    o -= (action / kJoin) & space;
    out[o] = kCommandTable.written[in[i]];
    o += copies | (blank & (space ^ 1));
    space = blank | (space & (copies ^ 1));
  }
  return o;
}

namespace {

// Of all eight bits: a byte whose high bit is set already counts it, as in ModSecurity.
inline bool OddParity(uint8_t c) { return (__builtin_popcount(c) & 1) != 0; }

}  // namespace

WAF_TRANSFORM(ParityEven7bit) {
  (void)context;
  for (size_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint8_t>((in[i] & 0x7f) | (OddParity(in[i]) ? 0x80 : 0));
  }
  return n;
}

WAF_TRANSFORM(ParityOdd7bit) {
  (void)context;
  for (size_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint8_t>((in[i] & 0x7f) | (OddParity(in[i]) ? 0 : 0x80));
  }
  return n;
}

WAF_TRANSFORM(ParityZero7bit) {
  (void)context;
  for (size_t i = 0; i < n; ++i) out[i] = in[i] & 0x7f;
  return n;
}

namespace {

// The bracketed part of a PHP argument name, from `i` (a '['): subscripts are kept, `[ ]` becomes
// `[]`, what follows the last subscript is dropped. Returns the output length.
size_t CopySubscripts(const uint8_t* in, size_t n, size_t i, uint8_t* out, size_t o) {
  while (i < n && in[i] == '[') {
    const void* found = std::memchr(in + i, ']', n - i);
    if (found == nullptr) break;
    const size_t close = static_cast<size_t>(static_cast<const uint8_t*>(found) - in);
    if (close - i == 2 && in[i + 1] == ' ') {
      out[o++] = '[';
      i += 2;
    }
    while (i <= close) out[o++] = in[i++];
  }
  return o;
}

}  // namespace

WAF_TRANSFORM(PhpArgsNames) {
  (void)context;
  if (n == 0 || in[0] == '[' || in[0] == '=') return 0;
  size_t i = 0;
  while (i < n && in[i] == ' ') ++i;
  size_t o = 0;
  bool verbatim = false;
  for (; i < n; ++i) {
    const uint8_t c = in[i];
    if (c == '[' && !verbatim) {
      if (std::memchr(in + i, ']', n - i) != nullptr) return CopySubscripts(in, n, i, out, o);
      out[o++] = '_';
      verbatim = true;
    } else {
      out[o++] = !verbatim && (c == ' ' || c == '.') ? '_' : c;
    }
  }
  return o;
}

}  // namespace waf
