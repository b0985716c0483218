// Precompiled header: the headers from outside of this folder that its files
// need.
#include "dialects/graph/GraphDialect.h"
