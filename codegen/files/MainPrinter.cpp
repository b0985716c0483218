// Prints <name>_run, the function that runs an entry point of the model, as
// C++.

#include "codegen/files/MainPrinter.h"

#include "codegen/files/NodeNames.h"
#include "codegen/files/ThreadsPrinter.h"
#include "codegen/kernel/Names.h"
#include "dialects/kernel/KernelModule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

void MainPrinter::numberLaunches() {
  forEachLaunch([&](kernel::LaunchOp launch) {
    numbers.insert({launch, numbers.size()});
  });
}

bool MainPrinter::usesThreads() const {
  bool threads = false;
  forEachLaunch([&](kernel::LaunchOp launch) {
    threads |= ingot::usesThreads(calleeOf(launch), out.language);
  });
  return threads;
}

void MainPrinter::printRun(StringRef function) {
  SourceMap::Mark mark(context.map, out, SourceMap::Kind::Function,
                       interface.main);
  NameScope outside = names;
  out.open(function + "(const " + interface.name +
           "_io *io, void *arena, const ingot_context "
           "*context) {");
  if (!usesThreads() && !options.trace)
    out.line("(void)context;");
  printChecks();
  printMade();
  printOperations(interface.main);
  printStateChange("state");
  out.line("return INGOT_OK;");
  out.close();
  names = std::move(outside);
}

void MainPrinter::printPublicRun(const Interface &interface, StringRef inside,
                                 TextWriter &out) {
  out.open("extern \"C\" ingot_status " + interface.name + "_run(const " +
           interface.name +
           "_io *io, void *arena, const ingot_context *context) {");
  out.line("return " + inside + "::" + interface.localName() +
           "(io, arena, context);");
  out.close();
}

void MainPrinter::printOther(Operation *op) {
  if (auto require = dyn_cast<kernel::RequireEqualOp>(op))
    printRequireEqual(require, pointer(require.getInput()).text);
  else if (auto prefetch = dyn_cast<kernel::PrefetchOp>(op))
    out.line(context.prefetch(pointer(prefetch.getBuffer()).text,
                              prefetch.getBytes()));
}

void MainPrinter::beginTeam(kernel::LaunchOp first) {
  // The predicted cycles of all kernels of the worker group (which the same
  // threads process in sequence) together, at the largest dynamic sizes, and
  // the cost of the group in half forks: one fork, and half of a fork for each
  // further kernel, before which the threads wait for each other. The printed
  // call passes the time per fork, from which in_team() decides whether several
  // threads pay off.
  uint64_t cycles = 0, halfForks = 1;
  for (auto launch : first->getBlock()->getOps<kernel::LaunchOp>())
    if (launch.getTeam() == first.getTeam()) {
      cycles += calleeOf(launch).getCycles().value_or(0);
      ++halfForks;
    }
  out.open("in_team(context, " +
           Twine(context.nanoseconds(2 * cycles, int64_t(halfForks))) +
           ", [=](Team &team) {");
}

void MainPrinter::endTeam() { out.close("});"); }

void MainPrinter::printChecks() {
  std::string missing = "!io" + missingTensors();
  if (interface.weightsMode == WeightsMode::File)
    missing += " || !io->" + interface.weightsField;
  if (!interface.stateField.empty())
    missing += " || !io->" + interface.stateField;
  if (interface.vtcmBytes)
    missing += " || !io->" + interface.vtcmField;
  if (interface.arenaBytes > 0)
    missing += " || !arena";
  returnIf(missing, "INGOT_ERROR_NULL");
  for (size_t number = 0; number < interface.tensors.size(); ++number)
    printAlignmentCheck(number);
  printSizeChecks();
  printStringChecks();
  if (interface.arenaBytes > 0) {
    returnIf(out.language.reinterpret("uintptr_t", "arena") + " % " +
                 interface.macro + "_ARENA_ALIGN != 0",
             "INGOT_ERROR_ALIGNMENT");
    bool used =
        llvm::any_of(interface.main->getRegion(0).getOps<kernel::ArenaOp>(),
                     [](kernel::ArenaOp buffer) {
                       return !buffer->use_empty() && !buffer.getSecondMemory();
                     });
    out.line(used ? "unsigned char *const memory = " +
                        out.language.fromVoid("unsigned char", "arena") + ";"
                  : "(void)arena;");
  } else {
    out.line("(void)arena;");
  }
  printVtcmPointer();
  printState();
  printWeightsBase();
}

void MainPrinter::printVtcmPointer() {
  if (!interface.vtcmBytes)
    return;
  std::string field = "io->" + interface.vtcmField;
  returnIf(out.language.reinterpret("uintptr_t", field) + " % " +
               interface.vtcmMacro + "_ALIGN != 0",
           "INGOT_ERROR_ALIGNMENT");
  secondBase = names.unique(interface.vtcmField);
  out.line("unsigned char *const " + secondBase + " = " +
           out.language.fromVoid("unsigned char", field) + ";");
}

void MainPrinter::printState() {
  if (interface.stateField.empty())
    return;
  std::string field = "io->" + interface.stateField;
  returnIf(out.language.reinterpret("uintptr_t", field) + " % " +
               interface.sharedMacro + "_STATE_ALIGN != 0",
           "INGOT_ERROR_ALIGNMENT");
  out.line("unsigned char *const state = " +
           out.language.fromVoid("unsigned char", field) + ";");
  printStatePointers("state");
}

/// Prints pointers to the weights that are not arrays in the source and, for a
/// weights file, the checks of its address and header.
void MainPrinter::printWeightsBase() {
  if (interface.weightsMode == WeightsMode::Source)
    return;
  weightsBase = interface.sharedName + "_weights";
  if (interface.weightsMode == WeightsMode::File) {
    std::string field = "io->" + interface.weightsField;
    returnIf(out.language.reinterpret("uintptr_t", field) + " % " +
                 interface.sharedMacro + "_WEIGHTS_ALIGN != 0",
             "INGOT_ERROR_ALIGNMENT");
    returnIf("!" + interface.sharedName + "_is_header(" + field + ")",
             "INGOT_ERROR_WEIGHTS");
    std::string file =
        out.language.isC
            ? out.language.reinterpret("const unsigned char *", field)
            : out.language.fromVoid("const unsigned char", field);
    out.line("const unsigned char *const weights = " + file + " + " +
             Twine(kWeightsHeaderBytes) + ";");
    weightsBase = "weights";
  }
  printWeightPointers(interface.main, weightsBase);
}

void MainPrinter::printLaunch(kernel::LaunchOp launch) {
  kernel::FuncOp callee = calleeOf(launch);
  SmallVector<std::string> arguments = launchArguments(launch);
  if (kernel::sharesSteps(callee) && !out.language.isC)
    arguments.push_back("context");
  std::string call =
      context.functions[launch.getCallee()] + "(" + llvm::join(arguments, ", ");
  bool comma = !arguments.empty();
  if (std::string nodes = nodesText(launch.getLoc()); !nodes.empty())
    out.comment(nodes);
  bool isInTeam = launch.getTeam().has_value() && !out.language.isC;
  auto printOnce = [&](const std::string &statement) {
    out.line(isInTeam ? "team.once([=] { " + statement + " });" : statement);
  };
  auto trace = [&](int finished) {
    if (options.trace)
      printOnce("if (context && context->trace) "
                "context->trace(context->trace_user, " +
                std::to_string(numbers.lookup(launch)) + ", " +
                std::to_string(finished) + ");");
  };
  trace(0);
  std::optional<kernel::Dim> extent = kernel::extentOf(callee);
  if (!extent)
    printOnce(call + ");");
  else if (extent->most() <= 1)
    printOnce(call + (comma ? ", " : "") + "0, " +
              interface.sizeText(*extent, "io->") + ");");
  else if (std::string nanoseconds = std::to_string(
               context.nanoseconds(callee.getCycles(), extent->most()));
           out.language.isC) {
    NameScope outside = names;
    out.open("{");
    std::string call = names.unique("arguments");
    out.line("struct " + context.arguments[launch.getCallee()] + " " + call +
             " = {" + llvm::join(arguments, ", ") + "};");
    out.line("parallel(context, " + interface.sizeText(*extent, "io->") + ", " +
             nanoseconds + ", " + context.bodies[launch.getCallee()] + ", &" +
             call + ");");
    out.close();
    names = std::move(outside);
  } else {
    // The lambda captures by value: variables captured by reference would be on
    // the stack, which would grow with the number of kernels.
    out.open((isInTeam ? "team.share(" : "parallel(context, ") +
             interface.sizeText(*extent, "io->") +
             (isInTeam ? "" : ", " + nanoseconds) +
             ", [=](ptrdiff_t begin, ptrdiff_t end) {");
    out.line(call + (comma ? ", " : "") + "begin, end);");
    out.close("});");
  }
  trace(1);
}

void MainPrinter::printKernelNames(TextWriter &out) {
  out.blank();
  out.open(out.language.external() + "const char *" + interface.name +
           "_kernel_name(int32_t kernel) {");
  out.open("switch (kernel) {");
  unsigned number = 0;
  forEachLaunch([&](kernel::LaunchOp launch) {
    std::string text = context.functions[launch.getCallee()];
    if (std::string nodes = nodesText(launch.getLoc()); !nodes.empty())
      text += ": " + toCommentText(nodes);
    llvm::replace(text, '"', '\'');
    llvm::replace(text, '\n', ' ');
    // Written without line breaking, so that each case is on one line.
    out.raw() << "    case " << number++ << ": return \"" << text << "\";\n";
  });
  out.line("default: return " + out.language.null() + ";");
  out.close();
  out.close();
}

} // namespace ingot
