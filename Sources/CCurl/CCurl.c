// libcurl is loaded when the first feed is fetched: it brings thirty libraries, which no other command pays for.
// Its numbers and types are its ABI (https://curl.se/libcurl/c/libcurl-errors.html, curl.h), the same since 7.32.
#include "CCurl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  optionWriteData = 10001, optionURL = 10002, optionErrorBuffer = 10010, optionUserAgent = 10018,
  optionLowSpeedLimit = 19, optionLowSpeedTime = 20, optionHeaders = 10023,
  optionHeaderData = 10029, optionNoProgress = 43, optionProgressData = 10057,
  optionCertificates = 10065, optionNoSignal = 99, optionConnectMilliseconds = 156,
  optionOpenSocketData = 10164, optionProtocols = 181, optionWrite = 20011, optionHeader = 20079,
  optionProxy = 10004, optionNoProxy = 10177, optionOpenSocket = 20163, optionProgress = 20219,
  infoStatus = 0x200002, infoConnectStatus = 0x200016, infoPrimaryAddress = 0x100020,
  protocolHTTP = 1, protocolHTTPS = 2,
};

// struct curl_sockaddr
struct SocketAddress {
  int family, type, protocol;
  unsigned int length;
  struct sockaddr address;
};

static struct {
  int (*globalInit)(long);
  void *(*init)(void);
  int (*set)(void *, int, ...);
  int (*perform)(void *);
  int (*get)(void *, int, ...);
  void (*cleanup)(void *);
  const char *(*text)(int);
  void *(*append)(void *, const char *);
  void (*freeList)(void *);
} curl;
static int isLoaded = 0;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  const char *names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"};
  void *library = NULL;
  for (size_t index = 0; index < sizeof names / sizeof *names && !library; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) return;
  *(void **)&curl.globalInit = dlsym(library, "curl_global_init");
  *(void **)&curl.init = dlsym(library, "curl_easy_init");
  *(void **)&curl.set = dlsym(library, "curl_easy_setopt");
  *(void **)&curl.perform = dlsym(library, "curl_easy_perform");
  *(void **)&curl.get = dlsym(library, "curl_easy_getinfo");
  *(void **)&curl.cleanup = dlsym(library, "curl_easy_cleanup");
  *(void **)&curl.text = dlsym(library, "curl_easy_strerror");
  *(void **)&curl.append = dlsym(library, "curl_slist_append");
  *(void **)&curl.freeList = dlsym(library, "curl_slist_free_all");
  isLoaded = curl.globalInit && curl.init && curl.set && curl.perform && curl.get && curl.cleanup
    && curl.text && curl.append && curl.freeList && curl.globalInit(3) == 0;
}

static size_t takeBody(char *bytes, size_t size, size_t count, void *data) {
  const CCurlRequest *request = data;
  return request->write(request->context, bytes, size * count) ? size * count : 0;
}

static size_t takeHeader(char *bytes, size_t size, size_t count, void *data) {
  const CCurlRequest *request = data;
  request->header(request->context, bytes, size * count);
  return size * count;
}

static int tellProgress(void *data, int64_t total, int64_t now, int64_t up, int64_t upNow) {
  const CCurlRequest *request = data;
  return request->shouldStop(request->context);
}

static int openSocket(void *data, int purpose, struct SocketAddress *address) {
  const CCurlRequest *request = data;
  if (!request->admits(request->context, &address->address, address->length)) return -1;
#ifdef SOCK_CLOEXEC
  return socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
#else
  int descriptor = socket(address->family, address->type, address->protocol);
  if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
#endif
}

void CCurlPerform(const CCurlRequest *request, CCurlResult *result) {
  memset(result, 0, sizeof *result);
  pthread_once(&once, load);
  void *handle = isLoaded ? curl.init() : NULL;
  if (!handle) {
    result->code = -1;
    return;
  }
  void *headers = NULL;
  for (size_t index = 0; index < request->headerCount; index++) {
    void *longer = curl.append(headers, request->headers[index]);
    if (longer) headers = longer;
  }
  curl.set(handle, optionURL, request->url);
  curl.set(handle, optionHeaders, headers);
  curl.set(handle, optionUserAgent, "dragoman");
  curl.set(handle, optionProtocols, (long)(protocolHTTP | protocolHTTPS));
  curl.set(handle, optionNoSignal, 1L);
  curl.set(handle, optionNoProgress, 0L);
  curl.set(handle, optionConnectMilliseconds, request->connectMilliseconds);
  curl.set(handle, optionLowSpeedLimit, 1L);
  curl.set(handle, optionLowSpeedTime, request->stallSeconds);
  curl.set(handle, optionWrite, takeBody);
  curl.set(handle, optionWriteData, request);
  curl.set(handle, optionHeader, takeHeader);
  curl.set(handle, optionHeaderData, request);
  curl.set(handle, optionProgress, tellProgress);
  curl.set(handle, optionProgressData, request);
  curl.set(handle, optionOpenSocket, openSocket);
  curl.set(handle, optionOpenSocketData, request);
  curl.set(handle, optionErrorBuffer, result->message);
  // Who looks up the host is known: the surroundings' own words are not asked again.
  curl.set(handle, optionProxy, request->proxy);
  curl.set(handle, optionNoProxy, "");
  if (request->certificates) curl.set(handle, optionCertificates, request->certificates);
  result->code = curl.perform(handle);
  curl.get(handle, infoStatus, &result->status);
  curl.get(handle, infoConnectStatus, &result->connectStatus);
  const char *address = NULL;
  curl.get(handle, infoPrimaryAddress, &address);
  if (address) snprintf(result->address, sizeof result->address, "%s", address);
  if (result->code != 0 && result->message[0] == 0) {
    snprintf(result->message, sizeof result->message, "%s", curl.text(result->code));
  }
  curl.cleanup(handle);
  curl.freeList(headers);
}
