/** Commands of shells. Source: POSIX.1-2017 XCU, GNU coreutils, Windows Server command reference. */

/** Commands whose names no text has, and programs that run other programs. */
const clear = `whoami uname wget curl ifconfig ipconfig nslookup netstat chmod chown mkfifo xxd printenv
  nc ncat netcat socat bash sh zsh ksh dash ash tcsh csh fish perl python python2 python3 php php5
  php7 ruby lua gawk awk sed grep egrep fgrep zgrep tftp telnet ssh scp sftp rsync certutil bitsadmin
  powershell pwsh cmd cmd.exe powershell.exe systeminfo tasklist taskkill wmic mshta rundll32 regsvr32
  cscript wscript useradd adduser usermod userdel passwd crontab busybox rm cp mv ls ps pwd dir tac
  mknod xargs nohup sudo su doas eval exec printf echo lsof lsb_release dmesg iptables tcpdump nmap
  ping ping6 traceroute dig zcat bzcat base32 base64 openssl gcc cc insmod modprobe systemctl
  service getent setarch taskset env strace gdb ldd vdir dpkg rpm apt apt-get yum apk pip pip3 npm
  killall pkill pgrep strings hexdump od nl rev uniq fold expand basenc arp route hostnamectl ifup
  ss ip ipcalc vim nano ed touch mkdir rmdir ln df du stat chgrp md5sum sha1sum sha256sum whereis
  phpinfo java javac node deno tar gzip gunzip unzip zip 7z cpio lwp-download
  schtasks findstr robocopy xcopy icacls takeown vssadmin wevtutil netsh nltest dsquery quser qwinsta
  getmac driverquery gpresult forfiles msiexec installutil regasm regsvcs msbuild cmstp odbcconf attrib
  cacls bcdedit fsutil diskpart cmdkey klist nbtstat pathping tracert psexec wsl ftp rsh rlogin tmux
  lsblk blkid lscpu lspci lsmod setfacl getfacl shred unlink truncate readlink realpath mktemp
  umount fdisk ethtool iwconfig ifdown ssh-keygen gpg bunzip2 xz chroot unshare nsenter capsh runuser
  docker kubectl podman psql mysql mysqldump sqlite3 mongo mongosh redis-cli ldapsearch smbclient
  tclsh pwsh.exe cksum sha512sum shuf csplit unxz zmore zless rbash nsupdate gdbserver tcpserver
  xterm xcalc calc.exe dd lynx aria2c axel finger rlwrap rbash systemd-run sysctl getconf logname tty uptime`;
/** Commands that are words of texts, too: what follows decides. */
const ambiguous = `cat id head tail more less find type net sort sleep kill which locate history who w
  date time test set export alias source command mail mount free last host hostname top cut paste
  tee split join look watch wall write at batch bc cal fg jobs read shift trap wait unset file
  copy del erase move ren start call more.com reg sc at.exe ver vol tree true false yes hd env
  install make go script screen login users groups shutdown reboot halt init rev comm tr wc diff`;

/** Words of one list. */
function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

/** By name, in lower case. */
export const clearCommands: ReadonlySet<string> = wordsOf(clear);
export const ambiguousCommands: ReadonlySet<string> = wordsOf(ambiguous);

/**
 * Commands that only change what they read: in a pipe, without the name of a file, they do nothing
 * that the command before them does not.
 */
export const filterCommands: ReadonlySet<string> = wordsOf(
  `sort uniq wc grep egrep fgrep head tail less more cut tr column rev fold tac nl paste jq base64
   base32 xxd hexdump od findstr md5sum sha1sum sha256sum`,
);
/** Programs that wait for input or say how to use them, where nothing follows. */
export const idleAlone: ReadonlySet<string> = wordsOf(
  `python python2 python3 php php5 php7 perl ruby node java javac lua gcc cc git docker kubectl podman
   npm pip pip3 gawk awk sed grep egrep fgrep mysql psql sqlite3 mongo tar gzip gunzip zip unzip vim
   nano powershell pwsh openssl service strings ssh scp rsync mysqldump ftp telnet printf touch ping`,
);

/** Commands that begin a clause of a sentence, where a word follows. */
export const sentenceWords: ReadonlySet<string> = wordsOf(
  `at call find go history last less look make more move read reboot start tail time top true false
   users w wait wall watch which who write yes`,
);

/**
 * Programs of people who write programs, by names that no sentence has: what they do in a folder of
 * one's own is no attack. Installers and what reads hosts, users and processes are none of them.
 */
export const ownPrograms: ReadonlySet<string> = wordsOf(
  `git npm npx pnpm yarn node pip pip3 python python3 docker docker-compose kubectl cargo rustc cmake
   tar zip unzip grep egrep sed awk ls cd pwd mkdir cp mv rm uniq wc xargs du df chmod ssh scp rsync apt
   apt-get brew dnf chown chgrp ln touch sysctl systemctl journalctl composer php java javac mvn gradle tsc vite vitest pytest
   gzip gunzip zstd ffmpeg mysqldump pg_dump dir jest eslint vim nano printf echo export dotnet ps terraform helm poetry`,
);
/** The same, by names that are words of sentences, too: something has to follow them. */
export const ownCommands: ReadonlySet<string> = wordsOf(
  `cat echo sort find make go cut tr source export alias history date sleep diff touch less head tail
   test set code convert join split read wait jq tee comm printf true false cd exit shift trap`,
);

/** Short commands of shells that pass over case, and of what others start there. */
export const shortWindowsCommands: ReadonlySet<string> = wordsOf(
  'cmd del dir net reg ren sc ver vol',
);

/** Commands that run the one after them, or say where it is. */
export const commandPrefixes: ReadonlySet<string> = wordsOf(
  'coproc chrt ionice unbuffer time nice command builtin exec nohup sudo env eval which type xargs timeout stdbuf setsid',
);

/** What follows a command and no word of a text: a flag, a path, an expansion, a host. */
export const clearArgument =
  /[\s]{1,8}(?:-{1,2}\w|if=|[a-z]:(?:[\\/"']|$)|\/(?:[\w?*.]|\s|$)|~\/|\\\\\w|\.{1,2}(?:\/|\s|$)|\$[\w{(]|https?:|ftp:|\d{1,3}\.\d{1,3}\.|\*|[\w.-]{1,64}\.(?:txt|php|sh|py|conf|log|exe|com|net|org|io|me|local|internal|example)\b|[\w/.-]{0,64}\/etc\/|"|')|\$\{?IFS|\s{0,4}\d?[<>]|,\/|\{/iy;
