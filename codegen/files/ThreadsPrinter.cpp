// Prints the functions that divide the work of kernels among the caller's
// threads.

#include "codegen/files/ThreadsPrinter.h"

#include "codegen/files/RuntimeHeader.h"
#include "codegen/kernel/Names.h"
#include "dialects/kernel/KernelModule.h"

using namespace mlir;

namespace ingot {

bool usesThreads(kernel::FuncOp kernel, const Language &language) {
  return language.isC ? kernel::extentOf(kernel).value_or(1).most() > 1
                      : kernel::usesThreads(kernel);
}

void reserveThreadNames(NameScope &names) {
  for (const char *name :
       {"pays_to_fork", "parallel", "TeamProgress", "Team", "in_team", "team"})
    names.reserve(name);
}

/// Whether the modules have so many launches (calls of kernels) that `parallel`
/// should not be inlined. Compilers compare each condition of a function with
/// the preceding ones: with `parallel` inlined into 1,600 launches, clang 22
/// takes 51 s, with calls of `parallel` 6 s.
static bool hasManyLaunches(ArrayRef<ModuleOp> modules) {
  constexpr int64_t many = 64;
  int64_t launches = 0;
  for (ModuleOp module : modules)
    module.walk([&](kernel::LaunchOp) { ++launches; });
  return launches > many;
}

static void printParallel(bool called, TextWriter &out) {
  bool isC = out.language.isC;
  out.comment("Executes body(begin, end) for ranges that cover [0, extent), on "
              "the caller's threads if that is faster. An iteration takes one "
              "thread about `nanoseconds`.");
  std::string parameters = "parallel(const ingot_context *context, ptrdiff_t "
                           "extent, uint64_t nanoseconds, ";
  if (isC) {
    out.open("static void " + parameters +
             "ingot_body body, void *argument) {");
  } else {
    out.line("template <typename Body>");
    out.open((called ? "INGOT_NOINLINE void " : "inline void ") + parameters +
             "const Body &body) {");
  }
  out.open("if (!pays_to_fork(context, " +
           out.language.cast("uint64_t", "extent") + " * nanoseconds)) {");
  out.line(isC ? "body(argument, 0, extent);" : "body(0, extent);");
  out.line("return;");
  out.close();
  if (!isC) {
    out.open("const ingot_body part = [](void *argument, ptrdiff_t begin, "
             "ptrdiff_t end) {");
    out.line("(*static_cast<const Body *>(argument))(begin, end);");
    out.close("};");
  }
  out.line("context->parallel_for(context->user, extent, " +
           std::string(isC ? "body, argument);"
                           : "part, const_cast<Body *>(&body));"));
  out.close();
  out.blank();
}

void printThreads(ArrayRef<ModuleOp> modules, TextWriter &out) {
  bool hasTeams = false, hasLoops = false;
  for (ModuleOp module : modules) {
    SymbolTable symbols(module);
    module.walk([&](kernel::LaunchOp launch) {
      auto kernel = symbols.lookup<kernel::FuncOp>(launch.getCallee());
      bool isInTeam = launch.getTeam() && !out.language.isC;
      hasTeams |= isInTeam;
      hasLoops |= !isInTeam && usesThreads(kernel, out.language);
    });
  }
  if (!hasTeams && !hasLoops)
    return;
  out.comment(
      "Whether a second thread pays for a loop of this time: it saves at "
      "most half of it, of which at least a fifth must be left after it is "
      "started.");
  out.open(out.language.internal() +
           "inline bool pays_to_fork(const ingot_context *context, uint64_t "
           "nanoseconds) {");
  out.line("return context && context->parallel_for && "
           "context->fork_nanoseconds <= nanoseconds * 2 / 5;");
  out.close();
  out.blank();
  if (hasLoops)
    printParallel(hasManyLaunches(modules), out);
  if (hasTeams) {
    out.raw() << kTeamText;
    out.blank();
  }
}

} // namespace ingot
