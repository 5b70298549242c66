<?php
// Three readings of a path that PHP programs go by: the script with its path, and the target.
$sent = rawurldecode(explode('?', $_SERVER['REQUEST_URI'])[0]);
$paths = [$_SERVER['PATH_INFO'] ?? '', $_SERVER['SCRIPT_NAME'], $sent];
$parsed = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_string($parsed)) $paths[] = $parsed;
echo in_array('/api/login', $paths, true) ? 'guarded' : 'other';
