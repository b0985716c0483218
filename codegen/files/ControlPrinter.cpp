// Prints the bodies of the model's ifs and loops (each body is a
// kernel.program) as C++ functions, and prints the ifs and loops that call
// these functions.
//
// The parameters of such a function are the inputs and outputs of the body,
// then what the body needs of its caller: its part of the arena (the buffer for
// intermediate tensors), the address of weights that are not in the source, the
// dynamic sizes, and the threads. For a GPU, the function also takes the
// stream, and the host memory to which branch conditions and loop limits are
// copied.

#include "codegen/files/ControlPrinter.h"

#include "codegen/files/NodeNames.h"
#include "codegen/files/ThreadsPrinter.h"
#include "codegen/kernel/Names.h"
#include "dialects/kernel/KernelModule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

void ControlPrinter::forEachLaunch(
    llvm::function_ref<void(kernel::LaunchOp)> use) const {
  // Visits the launches (calls of kernels) in the order in which they are
  // printed, which is also the order in which the user's trace callback numbers
  // kernels.
  cast<ModuleOp>(interface.main->getParentOp())
      .walk([&](kernel::ProgramOp program) {
        if (llvm::is_contained(programs, program))
          program.walk(use);
      });
}

/// Prints the struct of data-dependent sizes, to which the entry point and the
/// bodies of its ifs and loops have access, then a function for each body.
void ControlPrinter::printHelpers() {
  if (!interface.madeSizes.empty()) {
    madeSizesType = names.unique("made_sizes");
    out.comment("Sizes that depend on data.");
    out.open((out.language.isC ? "typedef struct " : "struct ") +
             madeSizesType + " {");
    for (const InterfaceSize &size : interface.madeSizes)
      out.line("ptrdiff_t " + size.field + ";");
    out.close(out.language.isC ? "} " + madeSizesType + ";" : "};");
    out.blank();
  }
  for (kernel::ProgramOp program : programs)
    if (program != interface.main)
      printProgram(program);
}

/// Whether the printed code may use a data-dependent size: it writes one to the
/// io struct (the argument of a run), or passes any dynamic size to a kernel.
/// If not, the code only checks data-dependent sizes, for example the number of
/// characters that the results of string operators need.
bool ControlPrinter::readsMadeSizes() const {
  bool reads = llvm::any_of(
      interface.sizes, [](const InterfaceSize &size) { return size.isMade; });
  forEachLaunch([&](kernel::LaunchOp launch) {
    kernel::FuncOp kernel = calleeOf(launch);
    reads |= kernel.getSizes() ||
             isa_and_nonnull<kernel::SizesAttr>(kernel.getExtentAttr());
  });
  return reads;
}

void ControlPrinter::printMade() {
  if (interface.madeSizes.empty())
    return;
  if (out.language.isC) {
    std::string values = names.unique("values_of_sizes");
    out.line(madeSizesType + " " + values + " = {0};");
    out.line(madeSizesType + " *const made = &" + values + ";");
    return;
  }
  out.line(std::string(readsMadeSizes() ? "" : "[[maybe_unused]] ") +
           madeSizesType + " made = {};");
}

/// Prints the launches of a worker group (short kernels that the same threads
/// process in sequence), and the operations between them, as one scope; returns
/// the last launch. Buffers that are used after the scope are declared before
/// it.
Operation *ControlPrinter::printTeam(kernel::LaunchOp first) {
  Operation *last = first;
  for (Operation *op = first; op; op = op->getNextNode())
    if (auto launch = dyn_cast<kernel::LaunchOp>(op))
      if (launch.getTeam() == first.getTeam())
        last = launch;
  Operation *end = last->getNextNode();
  for (Operation *op = first; op != end; op = op->getNextNode())
    if (auto buffer = dyn_cast<kernel::ArenaOp>(op))
      if (llvm::any_of(stepsThatUse(buffer), [&](Operation *step) {
            return !step->isBeforeInBlock(end);
          }))
        printArenaValue(buffer);
  NameScope outside = names;
  auto outsideArena = arenaNames;
  beginTeam(first);
  if (hasWeightsBase())
    printWeightPointers(cast<kernel::ProgramOp>(first->getParentOp()),
                        weightsBase, first.getTeam());
  for (Operation *op = first; op != end; op = op->getNextNode())
    printOperation(*op);
  endTeam();
  names = std::move(outside);
  arenaNames = std::move(outsideArena);
  return last;
}

void ControlPrinter::printOperations(kernel::ProgramOp program) {
  Block &block = program.getBody().front();
  for (Operation *op = &block.front(); op; op = op->getNextNode()) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    // In C, worker groups (short kernels that the same threads process in
    // sequence) are not printed as such: each launch divides its own kernel
    // among the caller's threads.
    if (launch && launch.getTeam() && !out.language.isC)
      op = printTeam(launch);
    else
      printOperation(*op);
  }
}

void ControlPrinter::printOperation(Operation &op) {
  SourceMap::Mark mark(context.map, out, SourceMap::Kind::Statement, &op);
  if (auto launch = dyn_cast<kernel::LaunchOp>(op))
    printLaunch(launch);
  else if (auto choice = dyn_cast<kernel::IfOp>(op))
    printIf(choice);
  else if (auto loop = dyn_cast<kernel::LoopOp>(op))
    printLoop(loop);
  else if (auto read = dyn_cast<kernel::ReadSizesOp>(op))
    printReadSizes(read);
  else if (auto check = dyn_cast<kernel::CheckSizesOp>(op))
    printCheckSizes(check);
  else if (auto buffer = dyn_cast<kernel::ArenaOp>(op)) {
    if (!buffer->use_empty())
      printArenaValue(buffer);
  } else {
    printOther(&op);
  }
}

void ControlPrinter::printChecked(const std::string &call) {
  if (out.language.isC) {
    out.open("{");
    out.line("const ingot_status status = " + call + ";");
    out.line("if (status != INGOT_OK) return status;");
    out.close();
    return;
  }
  out.line("if (ingot_status status = " + call +
           "; status != INGOT_OK) return status;");
}

void ControlPrinter::printCarried(const std::string &to,
                                  const std::string &from,
                                  const std::string &count, Type) {
  NameScope outside = names;
  std::string i = names.unique("element");
  out.open("for (ptrdiff_t " + i + " = 0; " + i + " < " + count + "; ++" + i +
           ") {");
  out.line(to + "[" + i + "] = " + from + "[" + i + "];");
  out.close();
  names = std::move(outside);
}

void ControlPrinter::addSizes(const kernel::Dim &size, Needs &needs) const {
  for (kernel::SymbolAttr symbol : size.given()) {
    bool isMade =
        llvm::any_of(interface.madeSizes, [&](const InterfaceSize &made) {
          return made.symbol == symbol;
        });
    (isMade ? needs.made : needs.io) = true;
  }
}

void ControlPrinter::addSizes(kernel::SizesAttr sizes, Needs &needs) const {
  for (const kernel::Dim &size : sizes ? kernel::dimsOf(sizes) : kernel::Dims())
    addSizes(size, needs);
}

kernel::Dim ControlPrinter::copiedElements(kernel::CopyOp copy) const {
  if (!copy.getElements())
    return cast<MemRefType>(copy.getTo().getType()).getNumElements();
  return kernel::dimsOf(*copy.getElements())
      .front()
      .with([&](kernel::SymbolAttr symbol) {
        bool isMade =
            llvm::any_of(interface.madeSizes, [&](const InterfaceSize &made) {
              return made.symbol == symbol;
            });
        kernel::Dim size(symbol);
        return isMade ? kernel::Dim(size.most()) : size;
      });
}

ControlPrinter::Needs ControlPrinter::needsOf(kernel::ProgramOp program) const {
  Needs needs;
  needs.memory = program.getArenaBytes().value_or(0) > 0;
  needs.context = options.trace;
  program.walk([&](Operation *op) {
    if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
      needs.weights |= hasWeightsBase() && isNamedWeight(get);
    } else if (auto launch = dyn_cast<kernel::LaunchOp>(op)) {
      kernel::FuncOp callee = calleeOf(launch);
      auto extent = kernel::extentOf(callee).value_or(1);
      needs.context |= usesThreads(callee, out.language);
      addSizes(callee.getSizes().value_or(kernel::SizesAttr()), needs);
      addSizes(extent, needs);
    } else if (auto copy = dyn_cast<kernel::CopyOp>(op)) {
      addSizes(copiedElements(copy), needs);
    } else if (auto loop = dyn_cast<kernel::LoopOp>(op)) {
      addSizes(loop.getCountAttr(), needs);
      addSizes(loop.getElementsAttr(), needs);
      needs.decides |=
          loop.getLimit() || loop.getCondition() || loop.getConditional();
      needs.cells |= loop.getConditional() || loop.getCounted();
    } else if (isa<kernel::IfOp>(op)) {
      needs.decides = true;
    } else if (auto read = dyn_cast<kernel::ReadSizesOp>(op)) {
      needs.checks = needs.decides = true;
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
      needs.stream |= own.stream;
      needs.decides |= own.decides;
      needs.cells |= own.cells;
    }
  });
  adjust(program, needs);
  return needs;
}

/// Returns the parameters of the function of a program that follow its buffers.
SmallVector<ControlPrinter::Parameter>
ControlPrinter::parametersOf(const Needs &needs) {
  SmallVector<Parameter> result{
      {needs.memory, "unsigned char *memory", ""},
      {needs.weights, "const unsigned char *weights", weightsBase},
      {needs.io, "const " + interface.name + "_io *io", "io"},
      {needs.made,
       (needs.makesSizes ? "" : "const ") + madeSizesType +
           (out.language.isC ? " *made" : " &made"),
       "made"},
      {needs.context, "const ingot_context *context", "context"}};
  llvm::append_range(result, ownParameters(needs));
  llvm::erase_if(
      result, [](const Parameter &parameter) { return !parameter.isNeeded; });
  return result;
}

std::string ControlPrinter::nameOfArgument(kernel::ProgramOp program,
                                           unsigned argument) {
  auto name =
      program.getArgAttrOfType<StringAttr>(argument, kernel::kOnnxNameAttr);
  if (name)
    return name.str();
  return program.getArgAttr(argument, kernel::kOutputAttr) ? "output" : "input";
}

void ControlPrinter::printProgram(kernel::ProgramOp program) {
  SourceMap::Mark mark(context.map, out, SourceMap::Kind::Function, program);
  NameScope outside = names;
  named.clear();
  arenaNames.clear();
  Needs needs = needsOf(program);
  std::string text = out.language.internal().str() +
                     (needs.checks ? "ingot_status " : "void ") +
                     context.functions[program.getName()] + "(";
  std::vector<std::string> unused;
  for (BlockArgument argument : program.getArguments()) {
    unsigned index = argument.getArgNumber();
    bool isConst = !program.getArgAttr(index, kernel::kOutputAttr);
    std::string element =
        storageTypeName(cast<MemRefType>(argument.getType()).getElementType());
    std::string name = names.unique(nameOfArgument(program, index));
    named[argument] = {name, element, isConst};
    bool isUnused = argument.use_empty();
    if (isUnused && out.language.isC)
      unused.push_back(name);
    text += std::string(index ? ", " : "") + (isConst ? "const " : "") +
            element + " *" +
            (isUnused && !out.language.isC ? "/*" + name + "*/" : name);
  }
  for (const Parameter &parameter : parametersOf(needs))
    text += (StringRef(text).ends_with("(") ? "" : ", ") + parameter.text;
  if (std::string nodes = nodesText(program.getLoc()); !nodes.empty())
    out.comment(nodes);
  if (out.language.isC && StringRef(text).ends_with("("))
    text += "void";
  out.open(text + ") {");
  for (const std::string &name : unused)
    out.line("(void)" + name + ";");
  weightsBase = "weights";
  beginProgram(program);
  if (hasWeightsBase())
    printWeightPointers(program, weightsBase);
  if (needs.stream)
    out.line("ingot_status status = INGOT_OK;");
  printOperations(program);
  if (needs.checks)
    out.line("return INGOT_OK;");
  out.close();
  out.blank();
  names = std::move(outside);
  named.clear();
  arenaNames.clear();
}

/// Prints a call of the function of `program`, the body of an if or a loop. The
/// arguments are `buffers`, followed by those that needsOf(program) lists. The
/// first `count` values of `outputs` are results; the next one is the part of
/// the arena (the buffer for intermediate tensors) that the program uses. If
/// the called function returns an error, the printed code returns this error,
/// too.
void ControlPrinter::printCall(kernel::ProgramOp program, std::string buffers,
                               ValueRange outputs, size_t count) {
  Needs needs = needsOf(program);
  for (const Parameter &parameter : parametersOf(needs))
    buffers += (buffers.empty() ? "" : ", ") +
               (parameter.argument.empty() ? pointer(outputs[count]).text
                                           : parameter.argument);
  std::string call = context.functions[program.getName()] + "(" + buffers + ")";
  needs.checks ? printChecked(call) : out.line(call + ";");
}

/// Returns the C++ expression for the first element of a buffer.
std::string ControlPrinter::valueAt(Value memref) {
  std::string text = readable(memref, /*elements=*/1);
  bool isName =
      llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isName || StringRef(text).starts_with("(const ") ? "*" + text
                                                          : "*(" + text + ")";
}

void ControlPrinter::printIf(kernel::IfOp choice) {
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
  printCall(programs.front(), buffers, choice.getOutputs(), count);
  out.middle("} else {");
  printCall(programs.back(), buffers, choice.getOutputs(), count);
  out.close();
}

/// Returns the C++ expression for the address of the slice of a buffer that one
/// iteration uses, such as "x + iteration * 8". `whole` is the address of the
/// buffer, `elements` the number of elements of a slice, and `position` the
/// index of the slice. If `elements` is 0, returns `whole`.
static std::string partText(const std::string &whole, int64_t elements,
                            const std::string &position) {
  if (elements == 0)
    return whole;
  return whole + " + " + position +
         (elements == 1 ? "" : " * " + std::to_string(elements));
}

void ControlPrinter::printLoop(kernel::LoopOp loop) {
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
  // Iterations write a loop-carried value to two buffers in turn. If the number
  // of iterations is known before the loop, the last iteration writes to the
  // buffer of the loop's result.
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
  std::string iterationCell, goesOnCell;
  if (loop.getCounted())
    add(iterationCell = cellOf(loop, /*isCondition=*/false, iteration));
  for (const Carried &state : states)
    add(state.name);
  size_t index = 0;
  for (Value whole : loop.getSliced())
    addPart(whole, index++, /*readOnly=*/true);
  for (Value shared : loop.getShared())
    add(argument(shared, /*readOnly=*/true));
  if (loop.getConditional())
    add(goesOnCell = cellOf(loop, /*isCondition=*/true, goesOn));
  for (const Carried &state : states)
    add(state.next);
  for (Value whole : outputs.take_front(results).drop_front(carried))
    addPart(whole, index++, /*readOnly=*/false);

  std::optional<SourceMap::Mark> mark(std::in_place, context.map, out,
                                      SourceMap::Kind::Loop, loop);
  out.open("for (int64_t " + iteration + " = 0; " + condition + "; ++" +
           iteration + ") {");
  for (const Carried &state : states)
    out.line(state.element + " *const " + state.next + " = " + state.buffers +
             "[" + turn + "];");
  if (loop.getCounted())
    printToCell(iteration, iterationCell);
  printCall(body, buffers, outputs, results + carried);
  if (loop.getConditional())
    printFromCell(goesOn, goesOnCell);
  for (const Carried &state : states)
    out.line(state.name + " = " + state.next + ";");
  out.close();
  mark.reset();
  for (auto [i, state] : llvm::enumerate(states)) {
    if (!mayBeNone)
      break;
    kernel::Dim elements =
        cast<MemRefType>(loop.getCarried()[i].getType()).getNumElements();
    if (auto counts = loop.getElementsAttr())
      elements = kernel::dimsOf(counts)[i];
    std::string result = state.buffers + "[" + std::to_string(resultTurn) + "]";
    out.open("if (" + state.name + " != " + result + ") {");
    printCarried(
        result, state.name, interface.sizeText(elements, "io->"),
        cast<MemRefType>(loop.getCarried()[i].getType()).getElementType());
    out.close();
  }
  out.close();
  names = std::move(outside);
}

void ControlPrinter::printReadSizes(kernel::ReadSizesOp read) {
  kernel::Dims sizes = kernel::dimsOf(read.getSizes());
  std::string from = readable(read.getCounts(), int64_t(sizes.size()));
  for (auto [i, size] : llvm::enumerate(sizes)) {
    std::string element = "(" + from + ")[" + std::to_string(i) + "]",
                text = interface.sizeText(size, "io->");
    bool isNew = false;
    for (const InterfaceSize &made : interface.madeSizes)
      isNew |= size == kernel::Dim(made.symbol) &&
               made.maker == read->getParentOp() &&
               known.insert(made.symbol).second;
    // If the size already has a value, prints a check that the value just read
    // is equal to it.
    if (!isNew) {
      returnIf(element + " != " + text, "INGOT_ERROR_SHAPE");
      continue;
    }
    returnIf(element + " < " + Twine(size.least()) + " || " + element + " > " +
                 Twine(size.most()),
             "INGOT_ERROR_SHAPE");
    out.line(text + " = " + out.language.cast("ptrdiff_t", element) + ";");
    for (const InterfaceSize &own : interface.sizes)
      if (own.isMade && own.symbol == size.symbols().front())
        out.line("*io->" + own.field + " = " + text + ";");
  }
}

void ControlPrinter::printCheckSizes(kernel::CheckSizesOp check) {
  kernel::Dims pairs = kernel::dimsOf(check.getPairs());
  for (size_t i = 0; i < pairs.size(); i += 2)
    returnIf(interface.sizeText(pairs[i], "io->") +
                 " != " + interface.sizeText(pairs[i + 1], "io->"),
             "INGOT_ERROR_SHAPE");
}

} // namespace ingot
