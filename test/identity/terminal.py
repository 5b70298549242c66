"""Runs a command on a terminal of its own, types lines when it asks, prints all that was shown."""
import os
import pty
import select
import sys
import time

# Arguments: JSON list of [wait for, type] pairs, then the command.
import json

steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
seen = 0
deadline = time.time() + 25
while time.time() < deadline:
    ready, _, _ = select.select([terminal], [], [], 0.2)
    if ready:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    if steps and steps[0][0].encode() in shown[seen:]:
        seen = len(shown)
        os.write(terminal, steps.pop(0)[1].encode())
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
