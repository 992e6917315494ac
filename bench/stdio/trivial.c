// trivial: answers each call of a tool with the number it was given, so that the client before it is what is measured.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char* out;
static size_t cap, used;
static void put(const char* b, size_t n) {
  if (used + n > cap) out = realloc(out, cap = (used + n) * 2);
  memcpy(out + used, b, n);
  used += n;
}
#define PUT(text) put(text, sizeof(text) - 1)
#define HAS(text) memmem(l, n, text, sizeof(text) - 1)
static void handle(char* l, size_t n) {
  char *end = l + n, *id = 0, *e;
  for (char* p = l; (p = memmem(p, end - p, "\"id\":", 5)); p += 5) id = p + 5;
  if (!id) return;
  for (e = id; e < end && *e != ',' && *e != '}'; e++);
  PUT("{\"result\":");
  char* number = HAS("\"method\":\"tools/call\"") ? HAS("\"n\":") : 0;
  if (number) {
    size_t digits = strspn(number + 4, "0123456789");
    PUT("{\"content\":[{\"type\":\"text\",\"text\":\"echo ");
    put(number + 4, digits);
    PUT("\"}]}");
  } else if (HAS("\"method\":\"initialize\""))
    PUT("{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
        "\"serverInfo\":{\"name\":\"trivial\",\"version\":\"1\"}}");
  else if (HAS("\"method\":\"tools/list\""))
    PUT("{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}}]}");
  else
    PUT("{}");
  PUT(",\"jsonrpc\":\"2.0\",\"id\":");
  put(id, e - id);
  PUT("}\n");
}
static void flush_answers(void) {
  for (size_t at = 0; at < used;) {
    ssize_t k = write(1, out + at, used - at);
    if (k <= 0) exit(0);
    at += k;
  }
  used = 0;
}
int main() {
  size_t room = 1 << 20, len = 0;
  char* b = malloc(room);
  for (;;) {
    if (len == room) b = realloc(b, room *= 2);
    ssize_t k = read(0, b + len, room - len);
    if (k <= 0) return 0;
    len += k;
    char *start = b, *nl;
    while ((nl = memchr(start, '\n', b + len - start))) {
      handle(start, nl - start);
      start = nl + 1;
    }
    flush_answers();
    len -= start - b;
    memmove(b, start, len);
  }
}
