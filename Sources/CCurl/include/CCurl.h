#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// One request, as libcurl makes it: one URL, no redirect, no cookies, no decompression.
typedef struct {
  const char *url;
  /// `Name: value`, `headerCount` of them.
  const char *const *headers;
  size_t headerCount;
  /// A file of certificates to trust in place of the system's; NULL: the system's.
  const char *certificates;
  /// The proxy that is asked; empty: none.
  const char *proxy;
  long connectMilliseconds;
  /// How long less than a byte a second may come.
  long stallSeconds;
  /// What the functions below are called with.
  void *context;
  /// Takes a part of the body; 0: end the transfer.
  int (*write)(void *context, const void *bytes, size_t count);
  /// Takes a line of the head.
  void (*header)(void *context, const char *bytes, size_t count);
  /// Whether the transfer is to end; asked at least once a second.
  int (*shouldStop)(void *context);
  /// Whether a connection to an address may be made.
  int (*admits)(void *context, const struct sockaddr *address, socklen_t length);
} CCurlRequest;

/// What became of it.
typedef struct {
  /// 0: there is an answer; else the number of libcurl's error; -1: there is no libcurl.
  int code;
  long status;
  /// What a proxy has answered to CONNECT; 0: none was asked.
  long connectStatus;
  /// The address that was connected to last, a proxy's where there is one; empty: none.
  char address[64];
  char message[256];
} CCurlResult;

/// Makes a request, and waits for its end. libcurl is loaded by the first call.
void CCurlPerform(const CCurlRequest *request, CCurlResult *result);

#endif
