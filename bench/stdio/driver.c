// driver seq|pipe SIZE COUNT WARM-UP IN-FLIGHT command…: calls an MCP server over stdio and prints what it measured as JSON.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
static int wfd, rfd;
static char* rb;
static size_t rcap = 8 << 20, rl = 0;
static void wall(const char* b, size_t n) {
  while (n) {
    ssize_t k = write(wfd, b, n);
    if (k < 0) {
      if (errno == EAGAIN) {
        struct pollfd p = {wfd, POLLOUT, 0};
        poll(&p, 1, -1);
        continue;
      }
      perror("write");
      exit(3);
    }
    b += k;
    n -= k;
  }
}
static void rdline() {  // blocking read of one response line (skips notifications)
  size_t scan = 0;
  for (;;) {
    char* nl = rl > scan ? memchr(rb + scan, '\n', rl - scan) : 0;
    if (nl) {
      size_t ll = nl - rb + 1;
      int notif = !memmem(rb, ll > 220 ? 220 : ll, "\"id\"", 4) &&
                  !memmem(nl - (ll > 64 ? 64 : ll), ll > 64 ? 64 : ll, "\"id\"", 4);
      memmove(rb, nl + 1, rl - ll);
      rl -= ll;
      scan = 0;
      if (notif) continue;
      return;
    }
    scan = rl;
    if (rcap - rl < 65536) {
      rcap *= 2;
      rb = realloc(rb, rcap);
    }
    struct pollfd p = {rfd, POLLIN, 0};
    int pr = poll(&p, 1, 20000);
    if (pr == 0) {
      fprintf(stderr, "timeout waiting\n");
      exit(4);
    }
    ssize_t k = read(rfd, rb + rl, rcap - rl);
    if (k < 0 && errno == EAGAIN) continue;
    if (k <= 0) {
      fprintf(stderr, "eof\n");
      exit(5);
    }
    rl += k;
  }
}
static int cmp(const void* a, const void* b) {
  double x = *(double*)a, y = *(double*)b;
  return x < y ? -1 : x > y;
}
static char* payload;
static size_t msg(char* o, int id, int size) {
  int n = sprintf(o,
                  "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/"
                  "call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"",
                  id);
  int pad = size - n - 6;
  if (pad < 1) pad = 1;
  memcpy(o + n, payload, pad);
  if (getenv("VARY")) {
    char t[16];
    sprintf(t, "%08d", id);
    memcpy(o + n, t, 8);
  }
  n += pad;
  memcpy(o + n, "\"}}}\n", 5);
  return n + 5;
}
int main(int c, char** v) {
  signal(SIGPIPE, SIG_IGN);
  int pipemode = v[1][0] == 'p', size = atoi(v[2]), count = atoi(v[3]), warm = atoi(v[4]), infl = atoi(v[5]);
  rb = malloc(rcap);
  payload = malloc(size + 1);
  for (int i = 0; i < size; i++) payload[i] = 'a' + (i * 7) % 26;
  int a[2], b[2];
  if (getenv("SOCKETPAIR")) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, a);
    int t = a[0];
    a[0] = a[1];
    a[1] = t;
    socketpair(AF_UNIX, SOCK_STREAM, 0, b);
  } else {
    pipe(a);
    pipe(b);
  }
  double t00 = now();
  pid_t pid = fork();
  if (!pid) {
    setpgid(0, 0);
    dup2(a[0], 0);
    dup2(b[1], 1);
    close(a[0]);
    close(a[1]);
    close(b[0]);
    close(b[1]);
    execvp(v[6], v + 6);
    perror("exec");
    _exit(127);
  }
  close(a[0]);
  close(b[1]);
  wfd = a[1];
  rfd = b[0];
  const char* ini =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","
      "\"capabilities\":{},\"clientInfo\":{\"name\":\"cli\",\"version\":\"1\"}}}\n";
  wall(ini, strlen(ini));
  rdline();
  double tinit = now() - t00;
  const char* nt = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
  wall(nt, strlen(nt));
  char* mb = malloc(size + 512);
  for (int i = 1; i <= warm; i++) {
    size_t n = msg(mb, i, size);
    wall(mb, n);
    rdline();
  }
  double* lat = malloc(sizeof(double) * count);
  double t0 = now();
  if (!pipemode) {
    for (int i = 0; i < count; i++) {
      size_t n = msg(mb, warm + i + 1, size);
      double s = now();
      wall(mb, n);
      rdline();
      lat[i] = now() - s;
    }
  } else {
    fcntl(wfd, F_SETFL, fcntl(wfd, F_GETFL) | O_NONBLOCK);
    fcntl(rfd, F_SETFL, fcntl(rfd, F_GETFL) | O_NONBLOCK);
    int sent = 0, done = 0;
    size_t wo = 0, wl = 0;
    double* ts = malloc(sizeof(double) * count);
    size_t batchcap = (size_t)(size + 512) * infl;
    char* wb = malloc(batchcap);
    while (done < count) {
      if (wo == wl) {
        wo = wl = 0;
        while (sent < count && sent - done < infl && wl + size + 512 <= batchcap) {
          ts[sent] = now();
          wl += msg(wb + wl, warm + sent + 1, size);
          sent++;
        }
      }
      struct pollfd p[2] = {{rfd, POLLIN, 0}, {wfd, wo < wl ? POLLOUT : 0, 0}};
      int pr = poll(p, 2, 30000);
      if (pr == 0) {
        fprintf(stderr, "timeout pipe done=%d sent=%d\n", done, sent);
        exit(4);
      }
      if (wo < wl && (p[1].revents & (POLLOUT | POLLERR))) {
        ssize_t k = write(wfd, wb + wo, wl - wo);
        if (k > 0)
          wo += k;
        else if (errno != EAGAIN) {
          perror("w");
          exit(3);
        }
      }
      if (p[0].revents) {
        if (rcap - rl < 65536) {
          rcap *= 2;
          rb = realloc(rb, rcap);
        }
        ssize_t k = read(rfd, rb + rl, rcap - rl);
        if (k == 0) {
          fprintf(stderr, "eof\n");
          exit(5);
        }
        if (k < 0) continue;
        // count newlines only; line content not needed
        char *s = rb + rl, *e = rb + rl + k, *nl;
        while ((nl = memchr(s, '\n', e - s))) {
          lat[done] = now() - ts[done];
          done++;
          s = nl + 1;
          if (done >= count) break;
        }
        rl = 0;
      }
    }
  }
  double el = now() - t0;
  qsort(lat, count, sizeof(double), cmp);
  close(wfd);
  close(rfd);
  // give it 3s to exit, then kill its group
  struct rusage ru;
  int st;
  int i;
  for (i = 0; i < 300; i++) {
    if (waitpid(pid, &st, WNOHANG)) break;
    usleep(10000);
  }
  if (i == 300) {
    kill(-pid, SIGTERM);
    usleep(200000);
    kill(-pid, SIGKILL);
    waitpid(pid, &st, 0);
  }
  getrusage(RUSAGE_CHILDREN, &ru);
  double cpu = ru.ru_utime.tv_sec * 1e6 + ru.ru_utime.tv_usec + ru.ru_stime.tv_sec * 1e6 + ru.ru_stime.tv_usec;
  printf(
      "{\"mode\":\"%s\",\"size\":%d,\"n\":%d,\"init_us\":%.0f,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"mean\":%.1f,"
      "\"elapsed_us\":%.0f,\"mps\":%.0f,\"MBps\":%.1f,\"cpu_us\":%.0f,\"maxrss_kb\":%ld,\"exit\":%d}\n",
      pipemode ? "pipe" : "seq", size, count, tinit, lat[count / 2], lat[count * 9 / 10], lat[(int)(count * .99)],
      el / count, el, count / (el / 1e6), (double)count * size * 2 / (el), cpu, ru.ru_maxrss, i == 300 ? -9 : 0);
}
