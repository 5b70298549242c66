{
  "targets": [
    {
      "target_name": "waf_native",
      "sources": [
        "native-bindings/accept.cc",
        "native-bindings/addon.cc",
        "native-bindings/convert.cc",
        "native-bindings/http2-heads.cc",
        "native-bindings/http2-session.cc",
        "native-bindings/http2-state.cc",
        "native-bindings/hyperscan-compile.cc",
        "native-bindings/hyperscan-database.cc",
        "native-bindings/hyperscan-queue.cc",
        "native-bindings/hyperscan-stream.cc",
        "native-bindings/injection.cc",
        "native-bindings/mapped-file.cc",
        "native-bindings/memory.cc",
        "native-bindings/pcre.cc",
        "native-bindings/scan-branches.cc",
        "native-bindings/scan-bundles.cc",
        "native-bindings/scan-lines.cc",
        "native-bindings/scan-memo.cc",
        "native-bindings/scan-program.cc",
        "native-bindings/scan-program-api.cc",
        "native-bindings/scan-program-spec.cc",
        "native-bindings/scan-rows.cc",
        "native-bindings/scan-workspace.cc",
        "native-bindings/sql-words.cc",
        "native-bindings/thread-time.cc",
        "native-bindings/transformations.cc",
        "native-bindings/transformations-decode.cc",
        "native-bindings/transformations-digest.cc",
        "native-bindings/transformations-digits.cc",
        "native-bindings/transformations-encode.cc",
        "native-bindings/transformations-escapes.cc",
        "native-bindings/transformations-path.cc",
        "native-bindings/transformations-text.cc",
        "native-bindings/transform-api.cc",
        "native-bindings/validate.cc",
        "native-bindings/zstd.cc"
      ],
      "include_dirs": [
        "<!(node -p \"require('node-addon-api').include_dir\")"
      ],
      "defines": [
        "NAPI_VERSION=8",
        "NAPI_DISABLE_CPP_EXCEPTIONS",
        "NODE_ADDON_API_DISABLE_DEPRECATED",
        "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
        "WAF_SQL_PHRASES=<!(node native-bindings/find-libinjection.mjs --phrases)"
      ],
      "cflags": ["<!@(pkg-config --cflags libhs libnghttp2 libpcre2-8 libzstd)", "-Wall", "-Wextra", "-Werror", "-O3"],
      "cflags_cc": ["-std=c++17", "-fno-exceptions", "-fvisibility=hidden"],
      "cflags_cc!": ["-std=gnu++17", "-std=gnu++20"],
      "libraries": [
        "<!@(pkg-config --libs libhs libnghttp2 libpcre2-8 libzstd)",
        "<!@(node native-bindings/find-libinjection.mjs)"
      ]
    },
    {
      "target_name": "waf_listen",
      "sources": ["native-bindings/listen/listen.cc"],
      "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"],
      "cflags": ["-Wall", "-Wextra", "-Werror", "-O2"],
      "cflags_cc": ["-std=c++17", "-fno-exceptions", "-fvisibility=hidden"],
      "cflags_cc!": ["-std=gnu++17", "-std=gnu++20"]
    },
    {
      "target_name": "waf_re2",
      "sources": ["native-bindings/re2/re2.cc"],
      "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"],
      "cflags": ["<!@(pkg-config --cflags re2)", "-Wall", "-Wextra", "-Werror", "-O3"],
      "cflags_cc": ["-std=c++17", "-fno-exceptions", "-fvisibility=hidden"],
      "cflags_cc!": ["-std=gnu++17", "-std=gnu++20"],
      "libraries": ["<!@(pkg-config --libs re2)"]
    },
    {
      "target_name": "waf_files",
      "sources": [
        "native-bindings/files/addon.cc",
        "native-bindings/files/file-lock.cc",
        "native-bindings/files/file-pages.cc"
      ],
      "defines": ["NAPI_VERSION=8"],
      "cflags": ["-Wall", "-Wextra", "-Werror", "-O2"],
      "cflags_cc": ["-std=c++17", "-fno-exceptions", "-fvisibility=hidden"],
      "cflags_cc!": ["-std=gnu++17", "-std=gnu++20"]
    }
  ]
}
