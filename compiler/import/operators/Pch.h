// Precompiled header: what the files of this folder include from elsewhere.
#include "dialects/graph/GraphDialect.h"
