#ifndef C_EXTENDED_ATTRIBUTES_H
#define C_EXTENDED_ATTRIBUTES_H

#include <sys/types.h>

/// Sets an extended attribute of an open file; 0, or -1 with errno.
int dragoman_fsetxattr(int descriptor, const char *name, const void *value, size_t count);

/// Reads an extended attribute of a file, behind symbolic links; its length, or -1 with errno.
ssize_t dragoman_getxattr(const char *path, const char *name, void *value, size_t count);

#endif
