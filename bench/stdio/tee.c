// tee LOG command…: the physical limit of recording: read, write on, write to a file, and nothing else.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static char b[1 << 18];
static int wall(int f, const char* p, ssize_t n) {
  while (n > 0) {
    ssize_t k = write(f, p, n);
    if (k <= 0) return -1;
    p += k;
    n -= k;
  }
  return 0;
}
int main(int c, char** v) {
  signal(SIGPIPE, SIG_IGN);
  int log = open(v[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
  int a[2], d[2];
  pipe(a);
  pipe(d);
  if (!fork()) {
    dup2(a[0], 0);
    dup2(d[1], 1);
    close(a[0]);
    close(a[1]);
    close(d[0]);
    close(d[1]);
    execvp(v[2], v + 2);
    _exit(127);
  }
  close(a[0]);
  close(d[1]);
  // two threads of control via fork: one per direction, to avoid deadlock
  if (!fork()) {
    close(a[1]);
    for (;;) {
      ssize_t k = read(d[0], b, sizeof b);
      if (k <= 0) _exit(0);
      if (wall(1, b, k)) _exit(0);
      wall(log, b, k);
    }
  }
  close(d[0]);
  for (;;) {
    ssize_t k = read(0, b, sizeof b);
    if (k <= 0) break;
    if (wall(a[1], b, k)) break;
    wall(log, b, k);
  }
  close(a[1]);
  while (wait(0) > 0)
    ;
  return 0;
}
