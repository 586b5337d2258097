// Debian's libxml2 is built with ICU, whose headers define the same names as the ICU inside
// Foundation; a clean build that imports both modules is refused. We use none of what ICU adds.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
#include <libxml/encoding.h>
