/* Counts real calls of fsync and fdatasync: a byte in $SYNC_LOG for each that succeeded on a file
 * whose path contains $SYNC_PATH. Loaded with LD_PRELOAD by evidence-sync.test.ts. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_wanted(int fd) {
  const char *wanted = getenv("SYNC_PATH");
  char name[64], path[4096];
  if (wanted == NULL) return 0;
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, wanted) != NULL;
}

static void note(void) {
  const char *log = getenv("SYNC_LOG");
  if (log == NULL) return;
  int out = open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (out < 0) return;
  if (write(out, "s", 1) < 0) perror("sync log");
  close(out);
}

/* The disk takes its time: whoever does not wait for it is shown to be early. */
static int sync_slowly(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int wanted = is_wanted(fd);
  if (wanted) usleep(300 * 1000);
  int result = real(fd);
  if (result == 0 && wanted) note();
  return result;
}

int fdatasync(int fd) { return sync_slowly("fdatasync", fd); }

int fsync(int fd) { return sync_slowly("fsync", fd); }
