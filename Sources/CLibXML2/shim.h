// From 2.14 on it marks members that its push parser's users read as for itself.
#define XML_DEPRECATED_MEMBER
#include <libxml/xmlversion.h>
// Debian builds libxml2 with ICU, and ICU's headers clash with the ones inside Foundation. Only the
// layout of xmlCharEncodingHandler depends on them, which nobody here looks into.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
#include <libxml/encoding.h>
