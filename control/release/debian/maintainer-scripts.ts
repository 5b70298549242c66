/**
 * What dpkg runs around the files of the Debian package. Source: Debian Policy 6.5 (maintainer
 * scripts) and 9.3 (services, by deb-systemd-helper of init-system-helpers).
 */

/** Names of the control archive, with their texts. */
export const maintainerScripts: Readonly<Record<string, string>> = {
  postinst: `#!/bin/sh
set -e

if [ "$1" = configure ]; then
  if ! getent passwd waf >/dev/null; then
    adduser --quiet --system --group --no-create-home --home /var/lib/waf \\
      --gecos 'Web application firewall' waf
  fi
  if [ ! -d /var/lib/waf ]; then
    install -d -m 0700 -o waf -g waf /var/lib/waf
  fi
fi

case "$1" in
  configure | abort-upgrade | abort-deconfigure | abort-remove)
    deb-systemd-helper unmask waf.service >/dev/null || true
    if deb-systemd-helper --quiet was-enabled waf.service; then
      deb-systemd-helper enable waf.service >/dev/null || true
    else
      deb-systemd-helper update-state waf.service >/dev/null || true
    fi
    if [ -d /run/systemd/system ]; then
      systemctl --system daemon-reload >/dev/null || true
      if systemctl --quiet is-active waf.service; then
        # Restarts both programs from the new files; sockets stay open, clients wait.
        deb-systemd-invoke reload waf.service >/dev/null || true
      else
        deb-systemd-invoke start waf.service >/dev/null || true
      fi
    fi
    ;;
esac

if [ "$1" = configure ] && [ -z "$2" ]; then
  echo 'waf: settings are in /etc/waf/waf.yaml, the first password in /var/lib/waf/admin-password.'
  echo 'waf: the console is at https://127.0.0.1:9080/, the log at: journalctl -u waf'
  if [ ! -d /run/systemd/system ]; then
    echo 'waf: this machine has no systemd. Start it: waf run'
  fi
fi
`,
  prerm: `#!/bin/sh
set -e

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop waf.service >/dev/null || true
fi
`,
  postrm: `#!/bin/sh
set -e

if [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload >/dev/null || true
fi
case "$1" in
  remove)
    if command -v deb-systemd-helper >/dev/null; then
      deb-systemd-helper mask waf.service >/dev/null || true
    fi
    ;;
  purge)
    if command -v deb-systemd-helper >/dev/null; then
      deb-systemd-helper purge waf.service >/dev/null || true
      deb-systemd-helper unmask waf.service >/dev/null || true
    fi
    rm -rf /var/lib/waf
    rmdir /etc/waf 2>/dev/null || true
    if command -v deluser >/dev/null; then
      deluser --quiet --system waf >/dev/null || true
    fi
    ;;
esac
`,
};
