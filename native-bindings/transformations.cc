// The table of transformations: name, function, what can make it change a value, output bound.
#include "transformations.h"

#include <cstring>

#include "byte-class.h"

namespace waf {

namespace {

constexpr uint32_t kUrl = MaskOf(kPercent) | MaskOf(kPlus);
constexpr uint32_t kSpaces = MaskOf(kSpace) | MaskOf(kWhitespace);
constexpr uint32_t kHighBytes = MaskOf(kHigh) | MaskOf(kNbsp);
constexpr uint32_t kComments =
    MaskOf(kSlash) | MaskOf(kAsterisk) | MaskOf(kAngle) | MaskOf(kHyphen) | MaskOf(kHash);
constexpr uint32_t kCommand = MaskOf(kDoubleQuote) | MaskOf(kSingleQuote) | MaskOf(kBackslash) |
                              MaskOf(kCaret) | MaskOf(kComma) | MaskOf(kSemicolon) |
                              MaskOf(kUpper) | kSpaces;
constexpr uint32_t kFillers = MaskOf(kDoubleQuote) | MaskOf(kSingleQuote) | MaskOf(kBackslash) |
                              MaskOf(kCaret) | MaskOf(kParenthesis) | MaskOf(kPunctuation);

}  // namespace

const Transformation kTransformations[] = {
    {"none", None, 0, false, 1, 0},
    {"base64Decode", Base64Decode, 0, true, 1, 4},
    {"base64DecodeExt", Base64DecodeExt, 0, true, 1, 4},
    {"base64Encode", Base64Encode, 0, true, 2, 4},
    {"cmdLine", CmdLine, kCommand, false, 1, 0},
    {"compressWhitespace", CompressWhitespace, kSpaces, false, 1, 0},
    {"cssDecode", CssDecode, MaskOf(kBackslash), false, 1, 0},
    {"escapeSeqDecode", EscapeSeqDecode, MaskOf(kBackslash), false, 1, 0},
    {"hexDecode", HexDecode, 0, true, 1, 1},
    {"hexEncode", HexEncode, 0, true, 2, 0},
    {"htmlEntityDecode", HtmlEntityDecode, MaskOf(kAmpersand), false, 1, 0},
    {"jsDecode", JsDecode, MaskOf(kBackslash), false, 1, 0},
    {"length", Length, 0, true, 0, 24},
    {"lowercase", Lowercase, MaskOf(kUpper), false, 1, 0},
    {"md5", Md5, 0, true, 0, 16},
    {"normalizePath", NormalizePath, MaskOf(kSlash) | MaskOf(kDot), false, 1, 0},
    {"normalizePathWin", NormalizePathWin, MaskOf(kSlash) | MaskOf(kDot) | MaskOf(kBackslash),
     false, 1, 0},
    {"parityEven7bit", ParityEven7bit, 0, true, 1, 0},
    {"parityOdd7bit", ParityOdd7bit, 0, true, 1, 0},
    {"parityZero7bit", ParityZero7bit, kHighBytes, false, 1, 0},
    {"phpArgsNames", PhpArgsNames,
     MaskOf(kSpace) | MaskOf(kDot) | MaskOf(kEquals) | MaskOf(kPunctuation), false, 1, 0},
    {"removeComments", RemoveComments, kComments, false, 1, 1},
    {"removeCommentsChar", RemoveCommentsChar, kComments, false, 1, 0},
    {"removeNulls", RemoveNulls, MaskOf(kNul), false, 1, 0},
    {"removeWhitespace", RemoveWhitespace, kSpaces | kHighBytes, false, 1, 0},
    {"replaceComments", ReplaceComments, MaskOf(kSlash), false, 1, 1},
    {"replaceNulls", ReplaceNulls, MaskOf(kNul), false, 1, 0},
    {"sha1", Sha1, 0, true, 0, 20},
    {"sqlHexDecode", SqlHexDecode, MaskOf(kDigit), false, 1, 0},
    {"trim", Trim, kSpaces, false, 1, 0},
    {"trimLeft", TrimLeft, kSpaces, false, 1, 0},
    {"trimRight", TrimRight, kSpaces, false, 1, 0},
    {"uppercase", Uppercase, MaskOf(kLower), false, 1, 0},
    {"urlDecode", UrlDecode, kUrl, false, 1, 0},
    {"urlDecodeUni", UrlDecodeUni, kUrl, false, 1, 0},
    {"urlEncode", UrlEncode, 0, true, 3, 0},
    {"utf8toUnicode", Utf8ToUnicode, kHighBytes | MaskOf(kNul), false, 4, 16},
    {"fillersRemoved", FillersRemoved, kFillers, false, 1, 0},
};
const size_t kTransformationCount = sizeof(kTransformations) / sizeof(kTransformations[0]);
// The scan program keeps a bit for each.
static_assert(sizeof(kTransformations) / sizeof(kTransformations[0]) <= 64, "too many");

WAF_TRANSFORM(None) {
  (void)context;
  if (n != 0) std::memcpy(out, in, n);
  return n;
}

}  // namespace waf
