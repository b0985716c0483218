// Writes the tables of --evidence.
//
//   traceability.json    each node of the model -> functions, files and lines, or
//                        the reason why it has none; each function -> nodes
//   node-to-code.csv     as a table: each node -> functions, files and lines
//   code-to-node.csv     as a table: each line of a kernel or a helper -> nodes
//   loops.json           how often each loop iterates
//   flowfacts.ffx        loop bounds for WCET tools, in OTAWA's FFX format
//   control-flow.json    where control flow depends on data
//   memory.json          stack of each function, map of the arena, constants
//   deviations.md        deviations from coding standards
//
// Positions come from the printers (SourceMap), everything else from the IR.

#include "compiler/evidence/Evidence.h"

#include "codegen/files/Interface.h"
#include "codegen/files/NodeNames.h"
#include "codegen/kernel/Names.h"
#include "compiler/Faults.h"
#include "compiler/evidence/Tables.h"
#include "compiler/report/Progress.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace ingot {

static llvm::json::Value utf8(StringRef text) {
  return llvm::json::fixUTF8(text);
}

/// Returns `text` as a field of a CSV file, quoted if necessary.
static std::string csv(StringRef text) {
  if (text.find_first_of(",\"\n") == StringRef::npos)
    return text.str();
  std::string quoted = text.str();
  for (size_t at = 0; (at = quoted.find('"', at)) != std::string::npos; at += 2)
    quoted.insert(at, "\"");
  return "\"" + quoted + "\"";
}

static std::string xml(StringRef text) {
  std::string out;
  llvm::raw_string_ostream os(out);
  llvm::printHTMLEscaped(text, os);
  return out;
}

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto memref = dyn_cast<MemRefType>(type)) {
    os << memref.getElementType() << '[';
    llvm::interleave(memref.getShape(), os, ",");
    os << ']';
  } else {
    os << type;
  }
  return text;
}

bool Evidence::read() {
  if (!CodeMap::read())
    return false;
  readSites();
  readLoops();
  return true;
}

void Evidence::readSites() {
  // A site is the place of an operation in the source. Keeps one site for each
  // operation: if it has several, the one of kind Loop or, if there is none,
  // the first one. Leaves out sites of kind Function and sites without text.
  for (const SourceMap::Site &site : map.sites)
    if (site.begin != site.end && site.kind != SourceMap::Kind::Function) {
      const SourceMap::Site *&kept = sites[site.op];
      if (!kept || site.kind == SourceMap::Kind::Loop)
        kept = &site;
    }
}

std::pair<size_t, size_t> Evidence::linesOf(Operation *op) const {
  constexpr unsigned longest = 1000;
  for (unsigned steps = 0; op && steps < longest; ++steps) {
    if (const SourceMap::Site *site = sites.lookup(op))
      return {lineOf(site->begin), lastLineOf(site->end)};
    // An operation that has no statement of its own is part of the statement of
    // its first user or, if it has no users, of the statement that contains it.
    op = op->use_empty() ? op->getParentOp() : *op->user_begin();
  }
  return {0, 0};
}

/// Collects the loops of all functions, with their bounds and nesting.
void Evidence::readLoops() {
  llvm::DenseSet<Operation *> loopsOfData;
  for (const auto &function : functions)
    for (const DataFlow::Place &place : flow.placesIn(function->op))
      if (place.effect == DataFlow::Effect::Loop)
        loopsOfData.insert(place.op);
  llvm::DenseMap<Operation *, Loop *> loopOf;
  for (const SourceMap::Site &site : map.sites) {
    if (site.kind != SourceMap::Kind::Loop)
      continue;
    auto loop = std::make_unique<Loop>();
    loop->op = site.op;
    loop->function = functionOf(site.op);
    loop->firstLine = lineOf(site.begin);
    loop->lastLine = lastLineOf(site.end);
    if (auto counted = dyn_cast<scf::ForOp>(site.op)) {
      loop->counter = kernel::nameOf(counted.getInductionVar()).str();
      loop->bound = ranges.boundOf(counted);
    } else if (auto iterated = dyn_cast<kernel::LoopOp>(site.op)) {
      loop->bound = ranges.boundOf(iterated);
    }
    loop->isOfData = loopsOfData.contains(site.op);
    loopOf[site.op] = loop.get();
    loops.push_back(std::move(loop));
  }
  llvm::sort(loops, [](const auto &a, const auto &b) {
    return a->firstLine < b->firstLine;
  });
  for (const auto &loop : loops)
    for (Operation *op = loop->op->getParentOp(); op; op = op->getParentOp())
      if (Loop *outer = loopOf.lookup(op)) {
        outer->inside.push_back(loop.get());
        break;
      }
}

void Evidence::printIdentity(llvm::json::OStream &json) const {
  json.attribute("producer", utf8("written by " + options.producer));
  json.attribute("model", utf8(options.model));
  json.attribute("target", variant.target->name);
  json.attributeObject("source", [&] {
    llvm::SHA256 hash;
    hash.update(text);
    json.attribute("file", utf8(file));
    json.attribute("lines", int64_t(lineStarts.size()) - 1);
    json.attribute("sha256", llvm::toHex(hash.final(), /*LowerCase=*/true));
  });
}

static void printNames(llvm::json::OStream &json, StringRef key,
                       const llvm::SetVector<StringRef> &names) {
  json.attributeArray(key, [&] {
    for (StringRef name : names)
      json.value(utf8(name));
  });
}

void Evidence::printTraceability(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto place = [&](const Function &function) {
    json.object([&] {
      json.attribute("function", function.name);
      json.attribute("kind", function.kind);
      json.attribute("first_line", int64_t(function.firstLine));
      json.attribute("last_line", int64_t(function.lastLine));
    });
  };
  json.object([&] {
    printIdentity(json);
    json.attributeArray("nodes", [&] {
      for (const Node &node : nodes)
        json.object([&] {
          if (!node.entry.empty())
            json.attribute("entry", node.entry);
          json.attribute("graph", utf8(node.node.graph));
          json.attribute("index", node.node.index);
          json.attribute("name", utf8(node.node.name));
          json.attribute("operator", utf8(node.node.op));
          json.attributeArray("functions", [&] {
            for (const Function *function : node.functions)
              place(*function);
          });
          json.attributeArray("launches", [&] {
            for (const std::pair<size_t, size_t> &lines : node.launches)
              json.object([&] {
                json.attribute("first_line", int64_t(lines.first));
                json.attribute("last_line", int64_t(lines.second));
              });
          });
          if (node.reason.empty())
            return;
          json.attribute("reason", node.reason);
          json.attributeArray("neighbours", [&] {
            for (const Function *function : node.neighbours)
              place(*function);
          });
        });
    });
    json.attributeArray("functions", [&] {
      for (const auto &function : functions)
        json.object([&] {
          json.attribute("function", function->name);
          json.attribute("kind", function->kind);
          json.attribute("first_line", int64_t(function->firstLine));
          json.attribute("last_line", int64_t(function->lastLine));
          printNames(json, "nodes", function->nodes);
        });
    });
  });
  os << "\n";
}

void Evidence::printNodes(llvm::raw_ostream &os) const {
  os << "onnx_graph,onnx_index,onnx_node,operator,function,file,first_line,"
        "last_line,reason\n";
  for (const Node &node : nodes) {
    std::string graph = node.entry.empty() ? node.node.graph
                                           : node.entry + ":" + node.node.graph;
    auto row = [&](StringRef function, size_t first, size_t last,
                   StringRef reason) {
      os << csv(graph) << ',' << node.node.index << ',' << csv(node.node.name)
         << ',' << csv(node.node.op) << ',' << csv(function) << ','
         << (first ? csv(file) : "") << ','
         << (first ? std::to_string(first) : "") << ','
         << (last ? std::to_string(last) : "") << ',' << csv(reason) << '\n';
    };
    for (const Function *function : node.functions)
      row(function->name, function->firstLine, function->lastLine, "");
    for (auto [first, last] : node.launches)
      row("", first, last, "");
    if (node.reason.empty())
      continue;
    if (node.neighbours.empty())
      row("", 0, 0, node.reason);
    for (const Function *function : node.neighbours)
      row(function->name, function->firstLine, function->lastLine, node.reason);
  }
}

void Evidence::printLines(llvm::raw_ostream &os) const {
  os << "file,line,kind,function,onnx_nodes\n";
  // For each line of a program (a sequence of kernel calls), the ONNX nodes
  // that the kernels called in this line compute.
  std::map<size_t, llvm::SetVector<StringRef>> statements;
  for (const SourceMap::Site &site : map.sites)
    if (site.kind == SourceMap::Kind::Statement && site.begin != site.end &&
        isa<kernel::ProgramOp>(site.op->getParentOp()))
      for (size_t line = lineOf(site.begin); line <= lastLineOf(site.end);
           ++line)
        for (StringRef name : nodesOf(site.op->getLoc()))
          if (nodeNames.contains(name))
            statements[line].insert(name);
  for (const auto &function : functions)
    for (size_t line = function->firstLine; line <= function->lastLine;
         ++line) {
      bool isProgram = isa<kernel::ProgramOp>(function->op);
      os << csv(file) << ',' << line << ',' << function->kind << ','
         << csv(function->name) << ','
         << csv(llvm::join(isProgram ? statements[line] : function->nodes,
                           "; "))
         << '\n';
    }
}

void Evidence::printLoops(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    printIdentity(json);
    json.attributeArray("functions", [&] {
      for (const auto &function : functions)
        json.object([&] {
          json.attribute("function", function->name);
          json.attribute("kind", function->kind);
          json.attributeArray("loops", [&] {
            for (const auto &loop : loops) {
              if (loop->function != function.get())
                continue;
              json.object([&] {
                json.attribute("first_line", int64_t(loop->firstLine));
                json.attribute("last_line", int64_t(loop->lastLine));
                if (!loop->counter.empty())
                  json.attribute("counter", loop->counter);
                json.attribute("least", loop->bound.least);
                if (loop->bound.most)
                  json.attribute("most", *loop->bound.most);
                else
                  json.attribute("most", nullptr);
                json.attribute("exact", loop->bound.isExact());
                if (!loop->bound.formula.empty())
                  json.attribute("iterations", utf8(loop->bound.formula));
                json.attribute("depends_on_data", loop->isOfData);
              });
            }
          });
        });
    });
  });
  os << "\n";
}

void Evidence::printLoop(const Loop &loop, unsigned indent,
                         llvm::raw_ostream &os) const {
  os.indent(indent) << "<loop line=\"" << loop.firstLine << "\" source=\""
                    << xml(file) << "\" mincount=\"" << loop.bound.least
                    << "\" maxcount=\""
                    << (loop.bound.most ? std::to_string(*loop.bound.most)
                                        : "NOCOMP")
                    << "\" exact=\""
                    << (loop.bound.isExact() ? "true" : "false") << "\"";
  if (loop.inside.empty()) {
    os << "/>\n";
    return;
  }
  os << ">\n";
  for (const Loop *inner : loop.inside)
    printLoop(*inner, indent + 2, os);
  os.indent(indent) << "</loop>\n";
}

void Evidence::printFlowFacts(llvm::raw_ostream &os) const {
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Loop bounds of "
     << xml(file) << ", written by " << xml(options.producer)
     << ".\n     FFX, the flow fact format of OTAWA: maxcount is the number of "
        "iterations after each entry. -->\n<flowfacts>\n";
  for (const auto &function : functions) {
    os << "  <function name=\"" << xml(function->name) << "\">\n";
    for (const auto &loop : loops)
      if (loop->function == function.get() &&
          llvm::none_of(loops, [&](const auto &outer) {
            return llvm::is_contained(outer->inside, loop.get());
          }))
        printLoop(*loop, 4, os);
    os << "  </function>\n";
  }
  os << "</flowfacts>\n";
}

void Evidence::printControlFlow(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  SymbolTable symbols(module);
  // Per function: whether data determine which statements the function or its
  // callees execute, and whether data determine which operands their
  // conditional expressions evaluate.
  std::map<const Function *, std::pair<bool, bool>> effects;
  json.object([&] {
    printIdentity(json);
    json.attributeArray("functions", [&] {
      for (const auto &function : functions) {
        std::vector<DataFlow::Place> places = flow.placesIn(function->op);
        bool branches = false, chooses = false;
        for (const DataFlow::Place &place : places) {
          branches |= place.effect == DataFlow::Effect::Branch ||
                      place.effect == DataFlow::Effect::Loop ||
                      place.effect == DataFlow::Effect::Call;
          chooses |= place.effect == DataFlow::Effect::Choice;
        }
        // Helpers precede their callers, so the effects of callees are known.
        function->op->walk([&](func::CallOp call) {
          const Function *callee = functionOf(symbols.lookup(call.getCallee()));
          branches |= effects[callee].first;
          chooses |= effects[callee].second;
        });
        effects[function.get()] = {branches, chooses};
        json.object([&] {
          json.attribute("function", function->name);
          json.attribute("kind", function->kind);
          json.attribute("statements_depend_on_data", branches);
          json.attribute("choices_depend_on_data", chooses);
          json.attribute(
              "statement",
              branches ? "Which statements are executed, or how often, depends "
                         "on the data of a run."
              : chooses ? "Which statements are executed, and how often, does "
                          "not depend on the data of a run. Conditional "
                          "expressions do: the compiler decides whether they "
                          "become branches."
                        : "Which statements are executed, and how often, does "
                          "not depend on the data of a run.");
          json.attributeArray("places", [&] {
            for (const DataFlow::Place &place : places)
              json.object([&] {
                auto [first, last] = linesOf(place.op);
                json.attribute("first_line", int64_t(first));
                json.attribute("last_line", int64_t(last));
                json.attribute("effect", DataFlow::nameOf(place.effect));
              });
          });
        });
      }
    });
  });
  os << "\n";
}

void Evidence::printStack(llvm::json::OStream &json) const {
  json.attributeObject("stack", [&] {
    json.attribute("measured", footprint.object.has_value());
    if (!footprint.object) {
      auto compiler = findMeasuringCompiler(compilation.options);
      json.attribute("reason", compiler ? std::string("not measured")
                                        : llvm::toString(compiler.takeError()));
      return;
    }
    json.attribute("bytes", footprint.stack);
    json.attribute("code_bytes", footprint.object->code);
    json.attribute("constant_bytes", footprint.object->constants);
    json.attributeArray("functions", [&] {
      for (const auto &function : functions) {
        auto sizes = footprint.object->functions.find(function->name);
        json.object([&] {
          json.attribute("function", function->name);
          // A function for which no sizes were measured has been inlined by the
          // compiler.
          json.attribute("inlined", sizes == footprint.object->functions.end());
          if (sizes == footprint.object->functions.end())
            return;
          json.attribute("frame_bytes", sizes->second.frame);
          json.attribute("deepest_bytes", sizes->second.stack);
          json.attribute("code_bytes", sizes->second.code);
        });
      }
    });
  });
}

void Evidence::printArena(llvm::json::OStream &json) const {
  json.attributeObject("arena", [&] {
    json.attribute("bytes", footprint.arena);
    json.attribute("lower_bound_bytes", footprint.arenaLowerBound);
    json.attribute("state_bytes", footprint.state);
    json.attributeArray("programs", [&] {
      for (const auto &function : functions) {
        auto program = dyn_cast<kernel::ProgramOp>(function->op);
        if (!program)
          continue;
        json.object([&] {
          json.attribute("program", function->name);
          json.attribute("bytes", int64_t(program.getArenaBytes().value_or(0)));
          json.attribute("alignment",
                         int64_t(program.getArenaAlign().value_or(1)));
          json.attributeArray("buffers", [&] {
            program.walk([&](kernel::ArenaOp buffer) {
              json.object([&] {
                auto type = cast<MemRefType>(buffer.getType());
                json.attribute("offset", int64_t(buffer.getOffset()));
                json.attribute("bytes", kernel::spanBytes(type));
                json.attribute("type", typeText(type));
                json.attribute("memory",
                               buffer.getSecondMemory() ? "second" : "arena");
                json.attributeArray("tensors", [&] {
                  for (StringRef name : nodesOf(buffer.getLoc()))
                    json.value(utf8(name));
                });
                // The lines of the first and of the last use, including uses
                // through views.
                size_t first = 0, last = 0;
                SmallVector<Operation *> users(buffer->getUsers());
                for (size_t i = 0; i < users.size(); ++i) {
                  if (isa<kernel::ViewOp>(users[i])) {
                    llvm::append_range(users, users[i]->getUsers());
                    continue;
                  }
                  if (const SourceMap::Site *site = sites.lookup(users[i])) {
                    size_t from = lineOf(site->begin),
                           to = lastLineOf(site->end);
                    first = first ? std::min(first, from) : from;
                    last = std::max(last, to);
                  }
                }
                json.attribute("first_line", int64_t(first));
                json.attribute("last_line", int64_t(last));
              });
            });
          });
        });
      }
    });
  });
}

void Evidence::printConstants(llvm::json::OStream &json) const {
  Weights weights(variant);
  WeightsMode mode = weights.resolve(options.weights);
  StringRef place = mode == WeightsMode::Source   ? "source"
                    : mode == WeightsMode::Object ? "weights object"
                                                  : "weights file";
  // The functions that read each constant.
  llvm::StringMap<llvm::SetVector<StringRef>> readers;
  SymbolTable symbols(module);
  ModuleOp(module).walk([&](memref::GetGlobalOp get) {
    if (auto program = get->getParentOfType<kernel::ProgramOp>()) {
      SmallVector<Operation *> users(get->getUsers());
      for (size_t i = 0; i < users.size(); ++i)
        if (isa<kernel::ViewOp>(users[i]))
          llvm::append_range(users, users[i]->getUsers());
        else if (auto launch = dyn_cast<kernel::LaunchOp>(users[i]))
          if (const Function *callee =
                  functionOf(symbols.lookup(launch.getCallee())))
            readers[get.getName()].insert(callee->name);
    } else if (const Function *reader = functionOf(get)) {
      readers[get.getName()].insert(reader->name);
    }
  });
  json.attributeObject("constants", [&] {
    json.attribute("bytes", footprint.weights);
    json.attributeArray("arrays", [&] {
      for (const Weight &weight : weights.all()) {
        memref::GlobalOp global = weight.global;
        bool isTable = weight.offset < 0;
        json.object([&] {
          json.attribute("name", map.globals.lookup(global.getSymName()));
          json.attribute("type", typeText(global.getType()));
          json.attribute("bytes", kernel::spanBytes(global.getType()));
          json.attribute("place", isTable ? StringRef("source") : place);
          if (!isTable && mode != WeightsMode::Source)
            json.attribute("offset", weight.offset);
          llvm::SHA256 hash;
          if (kernel::forEachChunk(global, [&](ArrayRef<char> chunk) {
                hash.update(StringRef(chunk.data(), chunk.size()));
              }))
            json.attribute("sha256",
                           llvm::toHex(hash.final(), /*LowerCase=*/true));
          json.attributeArray("names", [&] {
            for (StringRef name : nodesOf(global.getLoc()))
              json.value(utf8(name));
          });
          printNames(json, "read_by", readers[global.getSymName()]);
        });
      }
    });
  });
}

void Evidence::printMemory(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    printIdentity(json);
    printStack(json);
    printArena(json);
    printConstants(json);
  });
  os << "\n";
}

static constexpr StringRef names[] = {
    "traceability.json", "node-to-code.csv", "code-to-node.csv",
    "loops.json",        "flowfacts.ffx",    "control-flow.json",
    "memory.json",       "deviations.md",
};

ArrayRef<StringRef> evidenceFiles() { return names; }

llvm::Error Evidence::write(OutputFiles &files, StringRef folder) const {
  std::function<void(llvm::raw_ostream &)> print[] = {
      [&](auto &os) { printTraceability(os); },
      [&](auto &os) { printNodes(os); },
      [&](auto &os) { printLines(os); },
      [&](auto &os) { printLoops(os); },
      [&](auto &os) { printFlowFacts(os); },
      [&](auto &os) { printControlFlow(os); },
      [&](auto &os) { printMemory(os); },
      [&](auto &os) {
        os << "# Deviations from coding standards\n\nwritten by "
           << options.producer << " for " << file
           << ". `docs/safety.md` has the same list.\n\n";
        printDeviations("##", os);
      },
  };
  for (auto [name, content] : llvm::zip_equal(names, print)) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    if (llvm::Error error = files.write(path, content))
      return error;
  }
  return files.commit();
}

void printDeviations(StringRef heading, llvm::raw_ostream &os) {
  // The fields of deviations.csv contain neither commas nor quotes.
  StringRef standard;
  for (StringRef line : llvm::split(kDeviationsText.split('\n').second, '\n')) {
    SmallVector<StringRef, 5> fields;
    line.split(fields, ',');
    if (fields.size() != 5)
      continue;
    if (fields[0] != standard) {
      os << (standard.empty() ? "" : "\n") << heading << ' ' << fields[0]
         << "\n\n| rule | reported by | where | reason |\n|---|---|---|---|\n";
      standard = fields[0];
    }
    os << "| " << fields[1] << " | " << fields[2] << " | " << fields[3] << " | "
       << fields[4] << " |\n";
  }
}

bool writeEvidence(Compilation &compilation, const Footprint &footprint,
                   StringRef output, StringRef folder) {
  Progress progress("writing " + printable(folder));
  Diagnostics &diagnostics = compilation.getDiagnostics();
  bool isNew = !llvm::sys::fs::exists(folder);
  if (std::error_code error = llvm::sys::fs::create_directories(
          folder, /*IgnoreExisting=*/true, llvm::sys::fs::perms::all_all)) {
    diagnostics.reportFile(DiagnosticId::CannotWrite, folder,
                           "`" + printable(folder) +
                               "` cannot be created: " + error.message());
    return false;
  }
  // Called if the files cannot be written: removes the folder if this function
  // has created it.
  auto fail = [&] {
    if (isNew)
      (void)llvm::sys::fs::remove(folder);
    return false;
  };
  Evidence evidence(compilation, footprint, output);
  if (!evidence.read())
    return fail();
  OutputFiles files;
  if (llvm::Error error = evidence.write(files, folder)) {
    reportFault(std::move(error), diagnostics);
    return fail();
  }
  return true;
}

} // namespace ingot
