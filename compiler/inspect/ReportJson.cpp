#include "compiler/inspect/ModelReport.h"

#include "passes/schedule/GroupCost.h"
#include "targets/ProgramForm.h"

using namespace mlir;

namespace ingot {

double predictedSeconds(const ModelReport &report, const Device &device) {
  double sum = double(report.rows.size()) * schedule::launchSeconds;
  // A fork is a set of branches (sequences of kernel calls) that run
  // concurrently. The fork to which the current calls belong, and the times of
  // its branches.
  std::optional<int64_t> fork;
  SmallVector<schedule::BranchTime> branches;
  auto closeFork = [&] {
    sum += fork ? schedule::secondsOf(branches, device) : 0;
    fork = std::nullopt;
    branches.clear();
  };
  for (const KernelRow &row : report.rows) {
    const Footprint::Launch &launch = row.launch;
    schedule::DeviceTime time =
        schedule::predictTime(device, launch.device, row.bytes, row.macs);
    if (launch.fork != fork)
      closeFork();
    if (!launch.fork) {
      sum += time.seconds;
      continue;
    }
    fork = launch.fork;
    branches.resize(std::max<size_t>(branches.size(), *launch.branch + 1));
    branches[*launch.branch].add(time);
  }
  closeFork();
  return sum;
}

void printReport(llvm::json::OStream &json, const ModelReport &report) {
  const Footprint &footprint = report.footprint;
  const ModelSummary &summary = report.summary;
  const TargetDescription &target = *report.target;
  auto text = [](StringRef s) { return llvm::json::fixUTF8(s); };
  auto values = [&](StringRef key,
                    const std::vector<ModelSummary::Value> &list) {
    json.attributeArray(key, [&] {
      for (auto &value : list)
        json.object([&] {
          json.attribute("name", text(value.name));
          json.attribute("type", text(value.type));
        });
    });
  };
  json.attribute("schema", reportSchema);
  json.attribute("file", text(report.file));
  json.attribute("producer", text(summary.producer));
  json.attribute("ir_version", summary.irVersion);
  json.attributeObject("opsets", [&] {
    for (auto &[domain, version] : summary.opsets)
      json.attribute(text(domain), version);
  });
  values("inputs", summary.inputs);
  values("outputs", summary.outputs);
  json.attributeObject("operators", [&] {
    for (auto &[name, count] : summary.operators)
      json.attribute(text(name), count);
  });
  json.attribute("initializer_bytes", summary.initializerBytes);
  json.attribute("target", target.name);
  json.attribute("compiles", report.isPlanned);
  if (!report.chosen.empty())
    json.attributeObject("chosen_sizes", [&] {
      for (const auto &[key, size] : report.chosen)
        json.attribute(text(key), size);
    });
  if (report.isPlanned) {
    json.attributeArray("groups", [&] {
      for (const KernelRow &row : report.rows)
        json.object([&] {
          json.attribute("strategy", row.strategy);
          if (!row.plan.empty())
            json.attribute("plan", llvm::json::Object(row.plan));
          if (row.isScalar)
            json.attribute("scalar", scalarReason);
          json.attribute("kernel", row.launch.kernel);
          if (row.launch.onHost)
            json.attribute("on_host", true);
          if (row.launch.device.threads) {
            json.attribute("blocks", row.launch.device.blocks);
            json.attribute("threads", row.launch.device.threads);
            json.attribute("shared", row.launch.device.shared);
            json.attribute("registers", row.launch.device.registers);
            schedule::DeviceTime time = schedule::predictTime(
                target.device, row.launch.device, row.bytes, row.macs);
            json.attribute("occupancy", time.occupancy);
            json.attribute("microseconds", time.seconds * 1e6);
            json.attribute("bound", text(time.bound));
            if (row.launch.fork) {
              json.attribute("fork", *row.launch.fork);
              json.attribute("branch", *row.launch.branch);
            }
          }
          json.attribute("result", row.result);
          json.attribute("macs", row.macs);
          json.attribute("parameters", row.parameters);
          json.attribute("bytes", row.bytes);
          if (row.cycles > 0) {
            json.attribute("cycles", row.cycles);
            json.attribute("least_cycles", row.leastCycles);
          }
          if (row.microseconds)
            json.attribute("measured_microseconds", *row.microseconds);
          json.attribute("weight_bytes", row.launch.weights);
          json.attribute("arena_bytes", row.launch.arena);
          if (footprint.object) {
            json.attribute("code_bytes", row.launch.code);
            json.attribute("stack_bytes", row.launch.stack);
          }
          json.attributeArray("nodes", [&] {
            for (const std::string &node : row.nodes)
              json.value(text(node));
          });
        });
    });
    json.attribute("kernels", footprint.kernels);
    json.attribute("macs", report.macs);
    json.attribute("macs_recomputed", footprint.macsRecomputed);
    json.attribute("parameters", report.parameters);
    json.attribute("weight_bytes", footprint.weights);
    if (const auto &weights = report.quantized; weights.bytes)
      json.attributeObject("quantized_weights", [&] {
        json.attribute("bytes", weights.bytes);
        json.attribute("stored_bytes", weights.storedBytes);
        json.attribute("stored_as", weights.storedAs);
      });
    json.attribute("arena_bytes", footprint.arena);
    json.attribute("arena_lower_bound", footprint.arenaLowerBound);
    if (programForm(target).predictsCycles) {
      double cycles = 0;
      for (const KernelRow &row : report.rows)
        cycles += row.cycles;
      json.attribute("predicted_cycles", cycles);
    } else {
      json.attribute("predicted_microseconds",
                     predictedSeconds(report, target.device) * 1e6);
    }
    if (report.measured) {
      json.attribute("measured_microseconds", report.measured->median * 1000);
      json.attribute("measured_runs", int64_t(report.measured->runs));
    }
    if (programForm(target).hasHandle && footprint.decisions)
      json.attribute("host_decisions", footprint.decisions);
    if (footprint.second)
      json.attribute("tcm_bytes", footprint.second);
    if (footprint.state)
      json.attribute("state_bytes", footprint.state);
    if (footprint.object) {
      json.attribute("code_bytes", footprint.object->code);
      json.attribute("constant_bytes", footprint.object->constants);
      json.attribute("variable_bytes", footprint.variables);
      json.attribute("stack_bytes", footprint.stack);
      json.attribute("flash_bytes", footprint.flash());
      json.attribute("ram_bytes", footprint.ram());
    } else {
      json.attribute("unmeasured", text(report.unmeasured));
    }
  }
  json.attributeArray("diagnostics", [&] {
    for (const Diagnostic &d : report.diagnostics)
      json.object([&] {
        json.attribute("id", infoOf(d.id).name);
        json.attribute("message", text(d.message));
        if (!d.nodeName.empty())
          json.attribute("node", text(d.nodeName));
        if (d.count > 1)
          json.attribute("count", static_cast<int64_t>(d.count));
        if (!d.supported.empty())
          json.attribute("supported", text(d.supported));
        if (!d.hints.empty())
          json.attributeArray("hints", [&] {
            for (const std::string &hint : d.hints)
              json.value(text(hint));
          });
      });
  });
  for (const auto &[key, value] : report.details)
    json.attribute(key, value);
}

} // namespace ingot
