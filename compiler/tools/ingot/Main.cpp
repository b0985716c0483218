//===- Main.cpp - the program `ingot` -------------------------------------===//

#include "compiler/tools/ingot/Commands.h"

int main(int argc, char **argv) { return ingot::runCommandLine(argc, argv); }
