// A trivial MCP server over HTTP, as fast as can be: one thread, epoll, JSON responses of 91 bytes. It prints its port.
// With `spin` it never sleeps: otherwise the time to wake it would be measured as that of the client.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES 16384
#define MOST 4096
static char *held[MOST];
static int held_bytes[MOST];

static const char *result_of(const char *body) {
  if (strstr(body, "\"initialize\""))
    return "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"trivial\",\"version\":\"1\"}}";
  if (strstr(body, "\"tools/list\""))
    return "{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}}]}";
  return "{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}";
}

// The id of a request as it is written; a length of 0 for a notification.
static int id_of(const char *body, const char **at) {
  const char *found = strstr(body, "\"id\":");
  if (!found) return 0;
  *at = found += 5;
  if (*found == '"') return (int)(strchr(found + 1, '"') - found) + 1;
  return (int)strspn(found, "0123456789");
}

static int respond(const char *request, char *out) {
  if (strncmp(request, "POST", 4) != 0) {
    const char *status = strncmp(request, "DELETE", 6) ? "405 Method Not Allowed" : "200 OK";
    return sprintf(out, "HTTP/1.1 %s\r\ncontent-length: 0\r\n\r\n", status);
  }
  const char *body = strstr(request, "\r\n\r\n") + 4, *id = "";
  int id_bytes = id_of(body, &id);
  if (id_bytes == 0) return sprintf(out, "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
  const char *result = result_of(body);
  int bytes = (int)strlen(result) + id_bytes + (int)strlen("{\"jsonrpc\":\"2.0\",\"id\":,\"result\":}");
  return sprintf(out, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}", bytes, id_bytes, id, result);
}

// Answers every whole request that is held for a socket.
static void serve(int fd) {
  static char out[1 << 20], one[BYTES + 1];
  int from = 0, sent = 0;
  while (from < held_bytes[fd]) {
    char *start = held[fd] + from;
    held[fd][held_bytes[fd]] = 0;
    char *end = strstr(start, "\r\n\r\n");
    if (!end) break;
    char *length = strcasestr(start, "content-length:");
    int body = length && length < end ? atoi(length + 15) : 0;
    int whole = (int)(end - start) + 4 + body;
    if (from + whole > held_bytes[fd]) break;
    memcpy(one, start, whole);
    one[whole] = 0;
    sent += respond(one, out + sent);
    from += whole;
  }
  memmove(held[fd], held[fd] + from, held_bytes[fd] - from);
  held_bytes[fd] -= from;
  if (sent > 0 && write(fd, out, sent) < 0) close(fd);
}

int main(int count_of_words, char **words) {
  int timeout = count_of_words > 1 && !strcmp(words[1], "spin") ? 0 : -1;
  signal(SIGPIPE, SIG_IGN);
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, poll = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t bytes = sizeof address;
  bind(listener, (struct sockaddr *)&address, bytes);
  listen(listener, 2048);
  getsockname(listener, (struct sockaddr *)&address, &bytes);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int count = epoll_wait(poll, events, 256, timeout);
    for (int i = 0; i < count; i++) {
      int fd = events[i].data.fd;
      if (fd == listener) {
        int client = accept(listener, 0, 0);
        if (client >= MOST) { close(client); continue; }
        if (client < 0) continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (!held[client]) held[client] = malloc(BYTES + 1);
        held_bytes[client] = 0;
        struct epoll_event added = {.events = EPOLLIN, .data.fd = client};
        epoll_ctl(poll, EPOLL_CTL_ADD, client, &added);
        continue;
      }
      int got = (int)read(fd, held[fd] + held_bytes[fd], BYTES - held_bytes[fd]);
      if (got <= 0) { close(fd); continue; }
      held_bytes[fd] += got;
      serve(fd);
    }
  }
}
