/** Texts of the Debian package that are not made from the program: settings, licences, reasons. */

import { systemdUnit } from '../systemd-unit.ts';

/** The settings that a new installation begins with; a file that dpkg never overwrites. */
export const settingsText = `# Settings of waf. Another file: waf --config FILE, or WAF_CONFIG.
# Read at a start; after a change: systemctl restart waf

# Everything that the product keeps: configuration, events, evidence, compiled rules.
data: /var/lib/waf

# Flags of "waf run", named as on the command line; waf run --help lists them.
run:
  proxy: 0.0.0.0:80
  https: 0.0.0.0:443
  management: 127.0.0.1:9080
  demo: false
`;

/** The unit: an unprivileged user that may bind low ports. */
export const unitText = systemdUnit({
  description: 'Web application firewall',
  command: '/usr/bin/waf run',
  user: 'waf',
  data: '/var/lib/waf',
});

/** Where commands of the installed program find their settings. */
export const launcherText = `#!/bin/sh
if [ -z "\${WAF_CONFIG+set}" ] && [ -r /etc/waf/waf.yaml ]; then
  WAF_CONFIG=/etc/waf/waf.yaml
  export WAF_CONFIG
fi
exec /usr/lib/waf/waf "$@"
`;

/** Licences: ours, and where those of what is packed with it lie. Source: Debian Policy 12.5. */
export const copyrightText = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: waf

Files: *
Copyright: 2025-2026 the authors of waf
License: Apache-2.0

Files: /usr/lib/waf/node /usr/lib/waf/lib/* /usr/lib/waf/app/node_modules/*
Copyright: their authors
License: various
 Node.js, system libraries and npm packages that run the program. Each npm package names its
 licence in its package.json.

License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
`;

/** What Debian's checks find on purpose, each with its reason. Source: lintian(1). */
export const lintianOverrides = `# The runtime and libraries come with the program, so that the target needs no Node and no npm.
waf: embedded-library
waf: embedded-javascript-library
waf: unstripped-binary-or-object
waf: hardening-no-pie
# npm packages are placed as they were published.
waf: script-not-executable
waf: windows-devel-file-in-package
# Detectors of HTML have examples of what they find; nothing shows them as pages or fetches them.
waf: privacy-breach-generic [*] (*) [usr/lib/waf/app/.build/pieces/*]
`;
