// Owns the transformations that drop, fold or replace single characters: case, whitespace, NULs,
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
  size_t o = 0;
  bool in_space = false;
  for (size_t i = 0; i < n; ++i) {
    if (IsSpace(in[i])) {
      if (!in_space) out[o++] = ' ';
      in_space = true;
    } else {
      out[o++] = in[i];
      in_space = false;
    }
  }
  return o;
}

// The no-break space goes too: the byte 0xA0 and its UTF-8 lead byte 0xC2, each wherever it stands.
// compressWhitespace leaves both.
WAF_TRANSFORM(RemoveWhitespace) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!IsSpace(in[i]) && in[i] != 0xA0 && in[i] != 0xC2) out[o++] = in[i];
  }
  return o;
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
  size_t i = 0;
  size_t o = 0;
  bool inside = false;
  while (i < n) {
    if (!inside) {
      if (StartsWith(in, n, i, "/*", 2)) {
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
  size_t i = 0;
  size_t o = 0;
  while (i < n) {
    if (StartsWith(in, n, i, "/*", 2) || StartsWith(in, n, i, "*/", 2)) {
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

WAF_TRANSFORM(CmdLine) {
  (void)context;
  size_t o = 0;
  bool space = false;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t c = in[i];
    switch (c) {
      case '"':
      case '\'':
      case '\\':
      case '^':
        break;
      case ' ':
      case ',':
      case ';':
      case '\t':
      case '\r':
      case '\n':
        if (!space) out[o++] = ' ';
        space = true;
        break;
      case '/':
      case '(':
        if (space) --o;
        space = false;
        out[o++] = c;
        break;
      default:
        out[o++] = IsUpper(c) ? static_cast<uint8_t>(c + 32) : c;
        space = false;
    }
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
