#include "compiler/tools/ingot/Options.h"

using namespace llvm;

namespace ingot {

static constexpr StringLiteral compileExamples = R"(
  ingot mnist.onnx -o mnist.cpp                 C++ for this machine: mnist_run
  ingot mnist.onnx -o mnist.cpp --target generic --name digits
  ingot net.onnx -o net.o --dim batch=1         an object file; batch size 1
  ingot net.onnx -o net.o --cxx "g++ -Os"       compiled by this compiler
  ingot net.onnx -o net.cpp --target A,B,C      picks one where it runs
  ingot net.onnx --stop-after decide            the program after a stage
  ingot --explain over-budget                   what an error means
)";

static constexpr StringLiteral inspectExamples = R"(
  ingot inspect net.onnx                        nodes, kernels, memory
  ingot inspect net.onnx --dim batch=1 --json
  ingot inspect net.onnx --max-ram 64K --max-flash 1M
)";

static constexpr StringLiteral testExamples = R"(
  ingot test net.onnx                           test_data_set_* beside net.onnx
  ingot test net.onnx DIR                       those in another folder
)";

static constexpr StringLiteral runExamples = R"(
  ingot run net.onnx --input x=x.npy --output-dir out
  ingot run net.onnx IN_DIR OUT_DIR             input_0.pb ... to output_0.pb ...
)";

static constexpr StringLiteral benchExamples = R"(
  ingot bench net.onnx                          median, fastest, 90 %
  ingot bench net.onnx --threads 2 --seconds 5
  ingot bench net.onnx --per-group              where the time goes
  ingot bench net.onnx --roofline               and what bounds each kernel
  ingot bench net.onnx --json
)";

static constexpr StringLiteral quantizeExamples = R"(
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx --max-loss 35dB
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx --max-loss 1% --labels classes.npy
  ingot quantize net.onnx --calibrate samples.npz -o net_q.onnx --quantize int4-weights
)";

static constexpr StringLiteral opsExamples = R"(
  ingot ops                                     all operators
  ingot ops Resize                              what is supported of Resize
)";

static constexpr StringLiteral targetsExamples = R"(
  ingot targets                                 names for --target
  ingot targets --json                          with compilers and flags
)";

Options::Options() {
  commands = {
      {&compile, compileCommand, "MODEL.onnx", 1, 1, compileExamples},
      {&inspect, inspectCommand, "MODEL.onnx", 1, 1, inspectExamples},
      {&test, testCommand, "MODEL.onnx [DIR]", 1, 2, testExamples},
      {&run, runCommand, "MODEL.onnx [IN_DIR OUT_DIR]", 1, 3, runExamples},
      {&bench, benchCommand, "MODEL.onnx", 1, 1, benchExamples},
      {&quantize, quantizeCommand, "MODEL.onnx", 1, 1, quantizeExamples},
      {&ops, opsCommand, "[OPERATOR]", 0, 1, opsExamples},
      {&targets, targetsCommand, "", 0, 0, targetsExamples}};
  for (const CommandSyntax &command : commands)
    positional.push_back(std::make_unique<cl::list<std::string>>(
        cl::Positional, cl::desc(command.takes), cl::sub(*command.parser),
        cl::cat(category)));
  for (const TargetDescription &target : allTargets()) {
    StringRef memory = target.nearMemory;
    if (memory.empty() || any_of(nearMemories, [&](const auto &known) {
          return known->ArgStr == memory;
        }))
      continue;
    nearMemories.push_back(std::make_unique<cl::opt<std::string>>(
        memory,
        cl::desc("Bytes of this memory of the target that the caller lends to "
                 "each run; vectors read from there all but constants"),
        cl::value_desc("BYTES|nK|nM"), cl::cat(category), cl::sub(compile),
        cl::sub(inspect), cl::sub(test), cl::sub(run)));
  }
  static const std::string stages = join(stageNames(), ", ");
  static const std::string stopText =
      "Print the program after a stage: " + stages;
  stopAfter.setDescription(stopText);
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

std::vector<std::string> Options::names(const CommandSyntax &command) const {
  std::vector<std::string> names;
  for (const auto &[name, option] : cl::getRegisteredOptions(*command.parser))
    if (option->getOptionHiddenFlag() == cl::NotHidden)
      names.push_back("--" + name.str());
  sort(names);
  return names;
}

} // namespace ingot
