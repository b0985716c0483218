#include "compiler/tools/ingot/Options.h"

using namespace llvm;

namespace ingot {

static constexpr StringLiteral compileExamples = R"(
  ingot mnist.onnx -o mnist.cpp                 C++ for this machine: mnist_run
  ingot mnist.onnx -o mnist.cpp --target generic --name digits
  ingot net.onnx -o net.o --dim batch=1         an object file; batch size 1
  ingot net.onnx -o net.o --cxx "g++ -Os"       built with this compiler
  ingot net.onnx -o net.cpp --target A,B,C      selects the best target at run time
  ingot net.onnx --stop-after decide            the IR after a stage
  ingot --explain over-budget                   what an error means
)";

static constexpr StringLiteral inspectExamples = R"(
  ingot inspect net.onnx                        nodes, kernels, memory
  ingot inspect net.onnx --dim batch=1 --json
  ingot inspect net.onnx --max-ram 64K --max-flash 1M

The table has a line for each kernel call:
  strategy  how the kernel is implemented
  result    type and shape of the result
  MACs      multiply-accumulate operations
  moved     bytes that the kernel reads and writes
  weights   bytes of constants; counted at the first call that reads them
  code      bytes of machine code; `=` for a kernel of an earlier call
  arena     bytes of the arena that are live during the call
  stack     bytes of stack that the kernel needs
  nodes     the ONNX nodes that it computes
and for a GPU instead of code, arena and stack:
  blocks    thread blocks; `threads`: of each block
  regs      estimated registers of a thread
  shared    bytes of shared memory of a block
  held      occupancy: the share of the threads that a processor can hold
  us        predicted microseconds; `bound by`: what limits them

Dimensions that the model leaves open get sizes for the report, which says how
to bind them.
)";

static constexpr StringLiteral reportExamples = R"(
  ingot report net.onnx                         net.html, for this machine
  ingot report net.onnx --target A,B,C
  ingot report net.onnx --json                  the data of the page
  ingot report net.onnx --md                    for a pull request

The page needs no network. docs/report.md describes it and the JSON.
)";

static constexpr StringLiteral diffExamples = R"(
  ingot diff old.onnx new.onnx                  kernels, flash, RAM, time
  ingot diff old.onnx new.onnx --max-ram-growth 0 --max-flash-growth 2%
  ingot inspect net.onnx --json > old.json      a report, to compare with later
  ingot diff old.json net.onnx                  for the target of the report
  ingot diff old.onnx new.onnx --json

The list has a line for each kernel call that differs:
  ~         a kernel call of both models whose figures differ
  -, +      a kernel call of the old or of the new model only
)";

static constexpr StringLiteral testExamples = R"(
  ingot test net.onnx                           test_data_set_* beside net.onnx
  ingot test net.onnx DIR                       those in another folder
)";

static constexpr StringLiteral verifyExamples = R"(
  ingot verify net.onnx                         random inputs, against ONNX Runtime
  ingot verify net.onnx --dim batch=1..8        compiled once, run at several sizes
  ingot verify net.onnx --input x=x.npy --range mask=0..1
  ingot verify net.onnx --per-node              the first wrong node, and the cause
  ingot verify net_q.onnx --against net.onnx --per-node
  ingot verify net.onnx --against-target generic

docs/verify.md describes the inputs, the reference and the tolerance.
)";

static constexpr StringLiteral runExamples = R"(
  ingot run net.onnx --input x=x.npy --output-dir out
  ingot run net.onnx IN_DIR OUT_DIR             input_0.pb ... to output_0.pb ...
)";

static constexpr StringLiteral benchExamples = R"(
  ingot bench net.onnx                          median, fastest, 90th percentile
  ingot bench net.onnx --threads 2 --seconds 5
  ingot bench net.onnx --per-group              the time of each kernel
  ingot bench net.onnx --roofline               and what limits it
  ingot bench net.onnx --trace net.json         a timeline for ui.perfetto.dev
  ingot bench net.onnx --compare onnxruntime    in turns with ONNX Runtime
  ingot bench net.onnx --json
)";

static constexpr StringLiteral traceExamples = R"(
  ingot trace serial.txt                        serial.json, for Chrome or Perfetto
  ingot trace serial.txt --clock 168M -o run.json
  program | ingot trace - -o run.json

Lines of the log; all other lines are ignored:
  ingot-trace clock 168000000       ticks per second
  ingot-trace name KERNEL TEXT      what NAME_kernel_name(kernel) returns
  ingot-trace KERNEL FINISHED TICKS a call of the trace hook
)";

static constexpr StringLiteral quantizeExamples = R"(
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx --max-loss 35dB
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx --max-loss 1% --labels classes.npy
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx --quantize int4-weights

The table has a line for each layer:
  precision type of activations x type of weights
  bytes     size of the weights; `before`: in float32
  dB        signal-to-noise ratio of the outputs, of the noise that this layer
            adds when all others are quantized
  so far    signal-to-noise ratio of the outputs if this layer and all before it
            are quantized, and the others are float
)";

static constexpr StringLiteral attachExamples = R"(
  ingot attach yolov8n.onnx -o camera.onnx --frame 1280x720 --format nv12
  ingot attach yolov8n.onnx -o photo.onnx --frame any
  ingot attach yolov8n.onnx -o boxes.onnx       boxes in the network's image
  ingot camera.onnx -o camera.cpp               camera_run: a frame in, boxes out

The input is uint8 and named `frame`. The outputs are `boxes`, float32 [K, 6] of
x1, y1, x2, y2, score and class in pixels of the frame, and `count`, int32 [1],
the number of boxes. docs/detectors.md describes the supported models.
)";

static constexpr StringLiteral llmExamples = R"(
  ingot llm smollm -o chat                      a folder: network, tokenizer, chat program
  make -C chat && chat/chat                     build it, and talk to it
  ingot llm smollm -o chat --context 1024       a shorter context, which needs less memory

The folder of the model is one that the model builder of ONNX Runtime GenAI or
Optimum has written. docs/llm.md describes it and the program.
)";

static constexpr StringLiteral tokenizerExamples = R"(
  ingot tokenizer tokenizer.json -o tok.cpp     tok::encode, tok::decode
)";

static constexpr StringLiteral opsExamples = R"(
  ingot ops                                     all operators
  ingot ops Resize                              what is supported of Resize
)";

static constexpr StringLiteral targetsExamples = R"(
  ingot targets                                 names for --target
  ingot targets --json                          with compilers and flags
)";

static constexpr StringLiteral helpExamples = R"(
  ingot help                                    commands, and options of compiling
  ingot help bench                              options of `ingot bench`
)";

static constexpr StringLiteral versionExamples = R"(
  ingot version
)";

static constexpr StringLiteral completionExamples = R"(
  source <(ingot completion bash)
  ingot completion zsh > ~/.zfunc/_ingot
  ingot completion fish > ~/.config/fish/completions/ingot.fish
)";

static constexpr StringLiteral referenceExamples = R"(
  ingot reference man > ingot.1                 the manual page
  ingot reference cli                           the options, as Markdown
  ingot reference errors                        the errors, as Markdown
  ingot reference operators                     the operators, as Markdown
  ingot reference targets                       the targets, as Markdown
  ingot reference deviations                    deviations from coding standards, as Markdown
)";

Options::Options() {
  commands = {
      {&compile, compileCommand, "MODEL.onnx", 1, 1, compileExamples},
      {&inspect, inspectCommand, "MODEL.onnx", 1, 1, inspectExamples},
      {&report, reportCommand, "MODEL.onnx", 1, 1, reportExamples},
      {&diff, diffCommand, "OLD NEW", 2, 2, diffExamples},
      {&test, testCommand, "MODEL.onnx [DIR]", 1, 2, testExamples},
      {&verify, verifyCommand, "MODEL.onnx", 1, 1, verifyExamples},
      {&run, runCommand, "MODEL.onnx [IN_DIR OUT_DIR]", 1, 3, runExamples},
      {&bench, benchCommand, "MODEL.onnx", 1, 1, benchExamples},
      {&traceCommand, ingot::traceCommand, "LOG", 1, 1, traceExamples},
      {&quantize, quantizeCommand, "MODEL.onnx", 1, 1, quantizeExamples},
      {&attach, attachCommand, "MODEL.onnx", 1, 1, attachExamples},
      {&llm, llmCommand, "DIR", 1, 1, llmExamples},
      {&tokenizer, tokenizerCommand, "TOKENIZER.json", 1, 1, tokenizerExamples},
      {&ops, opsCommand, "[OPERATOR]", 0, 1, opsExamples},
      {&targets, targetsCommand, "", 0, 0, targetsExamples},
      {&helpCommand, ingot::helpCommand, "[COMMAND]", 0, 1, helpExamples},
      {&versionCommand, ingot::versionCommand, "", 0, 0, versionExamples},
      {&completion, completionCommand, "bash|zsh|fish", 1, 1,
       completionExamples},
      {&reference, referenceCommand,
       "cli|man|errors|operators|targets|deviations", 1, 1, referenceExamples}};
  for (const CommandSyntax &command : commands)
    positional.push_back(std::make_unique<cl::list<std::string>>(
        cl::Positional, cl::desc(command.takes), cl::sub(*command.parser)));
  for (const TargetDescription &target : allTargets()) {
    StringRef memory = target.tcmName;
    if (memory.empty() || any_of(tcmOptions, [&](const auto &known) {
          return known->ArgStr == memory;
        }))
      continue;
    SmallVector<StringRef> owners;
    for (const TargetDescription &other : allTargets())
      if (other.tcmName == memory)
        owners.push_back(other.name);
    // The string must outlive the option, which keeps a reference to it.
    texts.push_back("Size of the " + memory.upper() +
                    " (on-chip vector memory of " + join(owners, ", ") +
                    ") that the caller provides; activations are placed there");
    tcmOptions.push_back(std::make_unique<cl::opt<std::string>>(
        memory, cl::desc(texts.back()), cl::value_desc("BYTES|nK|nM"),
        cl::cat(Memory),
        About{*this,
              Compile | Inspect | Report | Diff | Test | Run,
              {0, "the memory is not used", ""}}));
  }
  addLetters();
}

void Options::add(cl::Option &option, unsigned commands, OptionFacts facts) {
  for (auto [i, parser] : enumerate(parsers))
    if (commands >> i & 1)
      option.addSubCommand(*parser);
  table.push_back({&option, facts});
}

void Options::addLetters() {
  for (auto &[option, facts] : table)
    if (facts.letter)
      letters.push_back(std::make_unique<cl::alias>(StringRef(&facts.letter, 1),
                                                    cl::aliasopt(*option)));
}

std::string CommandSyntax::shown() const {
  StringRef word = parser->getName();
  return word.empty() ? "ingot" : "ingot " + word.str();
}

size_t Options::chosen() const {
  for (auto [i, command] : enumerate(commands))
    if (*command.parser)
      return i;
  return 0;
}

const CommandSyntax *Options::find(StringRef name) const {
  for (const CommandSyntax &command : commands)
    if (command.parser->getName() == (name == "compile" ? "" : name))
      return &command;
  return nullptr;
}

std::vector<Options::OptionRow>
Options::optionsOf(const CommandSyntax &command) const {
  std::vector<OptionRow> rows;
  for (const OptionRow &row : table)
    if (row.first->Subs.contains(command.parser))
      rows.push_back(row);
  return rows;
}

std::vector<std::string> Options::names(const CommandSyntax &command) const {
  std::vector<std::string> names;
  for (auto &[option, facts] : optionsOf(command))
    names.push_back((option->ArgStr.size() == 1 ? "-" : "--") +
                    option->ArgStr.str());
  sort(names);
  return names;
}

} // namespace ingot
