// echo: the smallest MCP server over stdio, so that what stands before it is what is measured.
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void wall(const char* b, size_t n) {
  while (n) {
    ssize_t k = write(1, b, n);
    if (k <= 0) exit(0);
    b += k;
    n -= k;
  }
}
static char* out;
static size_t cap;
static void need(size_t n) {
  if (cap < n) {
    cap = n * 2;
    out = realloc(out, cap);
  }
}
static size_t olen = 0;
static void handle(char* l, size_t n) {
  // find last "id": at top level (payload has no quotes)
  char* p = 0;
  size_t from = n > 64 ? n - 64 : 0;
  char* q = memmem(l + from, n - from, "\"id\":", 5);
  if (!q) {
    q = memmem(l, n > 200 ? 200 : n, "\"id\":", 5);
  }
  p = q;
  if (!p) return;
  p += 5;
  char* e = p;
  if (*e == '"') {
    e++;
    while (*e != '"') e++;
    e++;
  } else
    while (isdigit(*e) || *e == '-') e++;
  int idl = e - p;
  size_t h = n > 200 ? 200 : n;
  char* m = memmem(l, h, "\"method\":\"", 10);
  if (!m) return;
  m += 10;
  need(olen + n + 1024);
  if (!strncmp(m, "initialize\"", 11)) {
    char* pv = "2025-06-18";
    char b[32];
    char* v = memmem(l, n, "\"protocolVersion\":\"", 19);
    if (v) {
      memcpy(b, v + 19, 10);
      b[10] = 0;
      pv = b;
    }
    olen += sprintf(out + olen,
                    "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"protocolVersion\":\"%s\",\"capabilities\":{"
                    "\"tools\":{}},\"serverInfo\":{\"name\":\"echo\",\"version\":\"1\"}}}\n",
                    idl, p, pv);
  } else if (!strncmp(m, "tools/list", 10)) {
    olen += sprintf(out + olen,
                    "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"tools\":[{\"name\":\"echo\",\"description\":\"e\","
                    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}}]}}\n",
                    idl, p);
  } else if (!strncmp(m, "tools/call", 10)) {
    char* t = memmem(l, n, "\"text\":\"", 8);
    size_t tl = 0;
    if (t) {
      t += 8;
      char* te = memchr(t, '"', l + n - t);
      tl = te - t;
    }
    olen += sprintf(out + olen,
                    "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"", idl, p);
    if (tl) {
      memcpy(out + olen, t, tl);
      olen += tl;
    }
    olen += sprintf(out + olen, "\"}]}}\n");
  } else
    olen += sprintf(out + olen, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{}}\n", idl, p);
}
int main() {
  size_t bc = 4 << 20, len = 0;
  char* b = malloc(bc);
  need(1 << 16);
  for (;;) {
    if (bc - len < 65536) {
      bc *= 2;
      b = realloc(b, bc);
    }
    ssize_t k = read(0, b + len, bc - len);
    if (k <= 0) return 0;
    size_t scan = len;
    len += k;
    size_t start = 0;
    for (;;) {
      char* nl = memchr(b + scan, '\n', len - scan);
      if (!nl) break;
      handle(b + start, nl - (b + start));
      start = scan = nl - b + 1;
    }
    if (olen) {
      wall(out, olen);
      olen = 0;
    }
    if (start) {
      memmove(b, b + start, len - start);
      len -= start;
    }
  }
}
