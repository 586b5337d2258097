#include "CExtendedAttributes.h"

#include <sys/xattr.h>

// Linux and macOS differ in the parameters; Glibc's module does not have them at all.

int dragoman_fsetxattr(int descriptor, const char *name, const void *value, size_t count) {
#ifdef __APPLE__
  return fsetxattr(descriptor, name, value, count, 0, 0);
#else
  return fsetxattr(descriptor, name, value, count, 0);
#endif
}

ssize_t dragoman_getxattr(const char *path, const char *name, void *value, size_t count) {
#ifdef __APPLE__
  return getxattr(path, name, value, count, 0, 0);
#else
  return getxattr(path, name, value, count);
#endif
}
