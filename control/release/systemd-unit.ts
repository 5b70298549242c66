/**
 * The systemd units of the program: one unprivileged user, one folder to write to, no new rights.
 * Memory stays writable and executable: V8 compiles at run time. Source: systemd.exec(5).
 */

/** What a unit runs. */
export interface UnitOptions {
  readonly description: string;
  /** The program and its arguments, quoted as systemd wants it. */
  readonly command: string;
  readonly user: string;
  /** The only folder that the program may write to. */
  readonly data: string;
}

/** The text of a unit. */
export function systemdUnit({ description, command, user, data }: UnitOptions): string {
  return `[Unit]
Description=${description}
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${command}
ExecReload=/bin/kill -USR2 $MAINPID
User=${user}
Group=${user}
Restart=always
RestartSec=2
TimeoutStopSec=90
KillMode=mixed
LimitNOFILE=1048576
UMask=0077
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${data}
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
LockPersonality=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources @mount
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}
