// Programs that other programs run, as C++ functions, and the ifs and loops that run
// them.
//
// Such a function takes its inputs and outputs, then what it asks for besides: its part
// of the arena, the weights outside of the source, the sizes of the run, the threads.

#include "codegen/files/MainPrinter.h"

#include "codegen/files/NodeNames.h"
#include "codegen/kernel/Names.h"
#include "dialects/kernel/KernelModule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

void MainPrinter::addSizes(const kernel::Dim &size, Needs &needs) const {
  for (kernel::SymbolAttr symbol : size.symbols()) {
    bool isMade =
        llvm::any_of(interface.madeSizes, [&](const InterfaceSize &made) {
          return made.symbol == symbol;
        });
    (isMade ? needs.made : needs.io) = true;
  }
}

void MainPrinter::addSizes(kernel::SizesAttr sizes, Needs &needs) const {
  for (const kernel::Dim &size : sizes ? kernel::dimsOf(sizes) : kernel::Dims())
    addSizes(size, needs);
}

MainPrinter::Needs MainPrinter::needsOf(kernel::ProgramOp program) const {
  Needs needs;
  needs.memory = program.getArenaBytes().value_or(0) > 0;
  needs.context = options.trace;
  program.walk([&](Operation *op) {
    if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
      needs.weights |=
          interface.weightsMode != WeightsMode::Source && isNamedWeight(get);
    } else if (auto launch = dyn_cast<kernel::LaunchOp>(op)) {
      kernel::FuncOp callee = calleeOf(launch);
      auto extent = kernel::extentOf(callee).value_or(1);
      needs.context |= kernel::usesThreads(callee);
      addSizes(callee.getSizes().value_or(kernel::SizesAttr()), needs);
      addSizes(extent, needs);
    } else if (auto loop = dyn_cast<kernel::LoopOp>(op)) {
      addSizes(loop.getCountAttr(), needs);
      addSizes(loop.getElementsAttr(), needs);
    } else if (auto read = dyn_cast<kernel::ReadSizesOp>(op)) {
      needs.checks = true;
      addSizes(read.getSizes(), needs);
      needs.makesSizes |=
          llvm::any_of(interface.madeSizes, [&](const InterfaceSize &made) {
            return made.maker == program &&
                   llvm::is_contained(read.getSizes().getSymbols(),
                                      made.symbol);
          });
    } else if (auto check = dyn_cast<kernel::CheckSizesOp>(op)) {
      needs.checks = true;
      addSizes(check.getPairs(), needs);
    }
    for (kernel::ProgramOp callee : kernel::programsRunBy(op)) {
      Needs own = needsOf(callee);
      needs.weights |= own.weights;
      needs.io |= own.io;
      needs.made |= own.made;
      needs.context |= own.context;
      needs.makesSizes |= own.makesSizes;
      needs.checks |= own.checks;
    }
  });
  return needs;
}

std::string MainPrinter::nameOfArgument(kernel::ProgramOp program,
                                        unsigned argument) {
  auto name =
      program.getArgAttrOfType<StringAttr>(argument, kernel::kOnnxNameAttr);
  if (name)
    return name.str();
  return program.getArgAttr(argument, kernel::kOutputAttr) ? "output" : "input";
}

void MainPrinter::printProgram(kernel::ProgramOp program) {
  NameScope outside = names;
  named.clear();
  arenaNames.clear();
  Needs needs = needsOf(program);
  std::string text = (needs.checks ? "ingot_status " : "void ") +
                     context.functions[program.getName()] + "(";
  for (BlockArgument argument : program.getArguments()) {
    unsigned index = argument.getArgNumber();
    bool isConst = !program.getArgAttr(index, kernel::kOutputAttr);
    std::string element =
        storageTypeName(cast<MemRefType>(argument.getType()).getElementType());
    std::string name = names.unique(nameOfArgument(program, index));
    named[argument] = {name, element, isConst};
    text += std::string(index ? ", " : "") + (isConst ? "const " : "") +
            element + " *" + (argument.use_empty() ? "/*" + name + "*/" : name);
  }
  auto add = [&](bool isNeeded, const Twine &parameter) {
    if (isNeeded)
      text += (StringRef(text).ends_with("(") ? "" : ", ") + parameter.str();
  };
  add(needs.memory, "unsigned char *memory");
  add(needs.weights, "const unsigned char *weights");
  add(needs.io, "const " + interface.name + "_io *io");
  add(needs.made,
      (needs.makesSizes ? "" : "const ") + madeSizesType + " &made");
  add(needs.context, "const ingot_context *context");
  if (std::string nodes = nodesText(program.getLoc()); !nodes.empty())
    out.comment(nodes);
  out.open(text + ") {");
  weightsBase = "weights";
  if (interface.weightsMode != WeightsMode::Source)
    printWeightPointers(program, weightsBase);
  printOperations(program);
  if (needs.checks)
    out.line("return INGOT_OK;");
  out.close();
  out.blank();
  names = std::move(outside);
  named.clear();
  arenaNames.clear();
}

/// A call with `buffers`, and behind them what the program needs; the frame is behind
/// the first `count` of `outputs`. Where the program ends the run, so does the caller.
std::string MainPrinter::callOf(kernel::ProgramOp program, std::string buffers,
                                ValueRange outputs, size_t count) {
  Needs needs = needsOf(program);
  auto add = [&](bool isNeeded, const std::string &argument) {
    if (isNeeded)
      buffers += (buffers.empty() ? "" : ", ") + argument;
  };
  if (needs.memory)
    add(true, pointer(outputs[count]).text);
  add(needs.weights, weightsBase);
  add(needs.io, "io");
  add(needs.made, "made");
  add(needs.context, "context");
  std::string call = context.functions[program.getName()] + "(" + buffers + ")";
  return needs.checks ? "if (ingot_status status = " + call +
                            "; status != INGOT_OK) return status;"
                      : call + ";";
}

/// The first element of a buffer.
std::string MainPrinter::valueAt(Value memref) {
  std::string text = argument(memref, /*readOnly=*/true);
  bool isName =
      llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isName ? "*" + text : "*(" + text + ")";
}

void MainPrinter::printIf(kernel::IfOp choice) {
  if (std::string nodes = nodesText(choice.getLoc()); !nodes.empty())
    out.comment(nodes);
  SmallVector<kernel::ProgramOp> programs = kernel::programsRunBy(choice);
  bool hasFrame = llvm::any_of(programs, [](kernel::ProgramOp program) {
    return program.getArenaBytes().value_or(0) > 0;
  });
  size_t count = choice.getOutputs().size() - hasFrame;
  std::string buffers;
  auto add = [&](Value buffer, bool readOnly) {
    buffers += (buffers.empty() ? "" : ", ") + argument(buffer, readOnly);
  };
  for (Value capture : choice.getCaptures())
    add(capture, /*readOnly=*/true);
  for (Value output : choice.getOutputs().take_front(count))
    add(output, /*readOnly=*/false);
  out.open("if (" + valueAt(choice.getCondition()) + ") {");
  out.line(callOf(programs.front(), buffers, choice.getOutputs(), count));
  out.middle("} else {");
  out.line(callOf(programs.back(), buffers, choice.getOutputs(), count));
  out.close();
}

/// "x + iteration * 8", the part of a buffer for one iteration.
static std::string partText(const std::string &whole, int64_t elements,
                            const std::string &position) {
  if (elements == 0)
    return whole;
  return whole + " + " + position +
         (elements == 1 ? "" : " * " + std::to_string(elements));
}

void MainPrinter::printLoop(kernel::LoopOp loop) {
  if (std::string nodes = nodesText(loop.getLoc()); !nodes.empty())
    out.comment(nodes);
  NameScope outside = names;
  kernel::ProgramOp body = kernel::programsRunBy(loop).front();
  bool hasFrame = body.getArenaBytes().value_or(0) > 0;
  size_t carried = loop.getCarried().size(),
         results = loop.getOutputs().size() - carried - hasFrame;
  ValueRange outputs = loop.getOutputs();
  unsigned firstCarried = loop.getCounted() ? 1 : 0;

  out.open("{");
  std::string iteration = names.unique("iteration"), count, limit, condition;
  kernel::Dim most;
  if (loop.getCount()) {
    count = names.unique("count");
    most = kernel::dimsOf(loop.getCountAttr()).front();
    out.line("const int64_t " + count + " = " +
             interface.sizeText(most, "io->") + ";");
    condition = iteration + " < " + count;
  }
  if (loop.getLimit()) {
    limit = names.unique("limit");
    out.line("const int64_t " + limit + " = " + valueAt(loop.getLimit()) + ";");
    condition += (condition.empty() ? "" : " && ") + iteration + " < " + limit;
  }
  std::string goesOn = names.unique("goes_on");
  if (loop.getCondition() || loop.getConditional()) {
    out.line((loop.getConditional() ? "uint8_t " : "const uint8_t ") + goesOn +
             " = " +
             (loop.getCondition() ? valueAt(loop.getCondition())
                                  : std::string("1")) +
             ";");
    condition += (condition.empty() ? "" : " && ") + goesOn;
  }
  // Iterations write to two buffers in turn, such that the last one of a known number
  // writes to the result.
  std::string number = !count.empty() ? count : limit;
  bool isKnown = !loop.getConditional() && (count.empty() || limit.empty());
  std::string turn =
      isKnown ? "(" + number + " - " + iteration + ") % 2" : iteration + " % 2";
  size_t resultTurn = isKnown ? 1 : 0;
  bool mayBeNone =
      !isKnown || loop.getCondition() || !loop.getCount() || most.least() < 1;
  struct Carried {
    std::string name, buffers, next, element;
  };
  std::vector<Carried> states;
  for (auto [i, initial] : llvm::enumerate(loop.getCarried())) {
    Carried state;
    std::string base = nameOfArgument(body, firstCarried + i);
    state.name = names.unique(base);
    state.buffers = names.unique(base + "_buffers");
    state.next = names.unique("next_" + base);
    state.element =
        storageTypeName(cast<MemRefType>(initial.getType()).getElementType());
    out.line("const " + state.element + " *" + state.name + " = " +
             argument(initial, /*readOnly=*/true) + ";");
    std::string result = argument(outputs[i], /*readOnly=*/false),
                other = argument(outputs[results + i], /*readOnly=*/false);
    if (isKnown)
      std::swap(result, other);
    out.line(state.element + " *const " + state.buffers + "[2] = {" + result +
             ", " + other + "};");
    states.push_back(state);
  }

  std::string buffers;
  auto add = [&](const std::string &text) {
    buffers += (buffers.empty() ? "" : ", ") + text;
  };
  ArrayRef<bool> reversed = loop.getReversed().value_or(ArrayRef<bool>());
  auto addPart = [&](Value whole, size_t index, bool readOnly) {
    ArrayRef<int64_t> shape = cast<MemRefType>(whole.getType()).getShape();
    bool isReversed = !reversed.empty() && reversed[index];
    add(partText(argument(whole, readOnly),
                 ShapedType::getNumElements(shape.drop_front()),
                 isReversed ? "(" + count + " - 1 - " + iteration + ")"
                            : iteration));
  };
  if (loop.getCounted())
    add("&" + iteration);
  for (const Carried &state : states)
    add(state.name);
  size_t index = 0;
  for (Value whole : loop.getSliced())
    addPart(whole, index++, /*readOnly=*/true);
  for (Value shared : loop.getShared())
    add(argument(shared, /*readOnly=*/true));
  if (loop.getConditional())
    add("&" + goesOn);
  for (const Carried &state : states)
    add(state.next);
  for (Value whole : outputs.take_front(results).drop_front(carried))
    addPart(whole, index++, /*readOnly=*/false);

  out.open("for (int64_t " + iteration + " = 0; " + condition + "; ++" +
           iteration + ") {");
  for (const Carried &state : states)
    out.line(state.element + " *const " + state.next + " = " + state.buffers +
             "[" + turn + "];");
  out.line(callOf(body, buffers, outputs, results + carried));
  for (const Carried &state : states)
    out.line(state.name + " = " + state.next + ";");
  out.close();
  for (auto [i, state] : llvm::enumerate(states)) {
    if (!mayBeNone)
      break;
    kernel::Dim elements =
        cast<MemRefType>(loop.getCarried()[i].getType()).getNumElements();
    if (auto counts = loop.getElementsAttr())
      elements = kernel::dimsOf(counts)[i];
    std::string result = state.buffers + "[" + std::to_string(resultTurn) + "]";
    out.open("if (" + state.name + " != " + result + ") {");
    out.open("for (ptrdiff_t element = 0; element < " +
             interface.sizeText(elements, "io->") + "; ++element) {");
    out.line(result + "[element] = " + state.name + "[element];");
    out.close();
    out.close();
  }
  out.close();
  names = std::move(outside);
}

} // namespace ingot
