// Precompiled header: the headers of other folders that the files of this
// folder need.
#include "dialects/graph/GraphDialect.h"
