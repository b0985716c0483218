// Reports the precision and loss of each layer.

#include "compiler/quantize/Session.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <cmath>

namespace ingot::quantize {

/// Returns the types of a layer's operand and weight, such as "uint8 x int8".
static std::string precisionOf(const Session &session, const Weight &weight) {
  auto name = [](int bits, bool isSigned) {
    return bits == 0 ? std::string("float32")
                     : (isSigned ? "int" : "uint") + std::to_string(bits);
  };
  int bits = 0;
  if (!weight.data.empty())
    if (int index = session.sites.activation(weight.data[0]); index >= 0)
      bits = session.sites.activations[index].bits;
  return name(bits, false) + " x " + name(weight.bits, weight.isInt8());
}

static int64_t bytesOf(const Weight &weight) {
  if (weight.bits == 0)
    return weight.elements() * 4;
  int bits = weight.isInt8() ? 8 : weight.bits;
  return (weight.elements() * bits + 7) / 8 +
         int64_t(weight.scales.size()) * 4 +
         (int64_t(weight.zeroPoints.size()) + 1) / 2;
}

static double decibels(double noise) {
  return noise > 0 ? -10 * std::log10(noise) : INFINITY;
}

bool describeLayers(Session &session, QuantizeReport &report) {
  Sites &sites = session.sites;
  std::vector<int> operands;
  for (size_t i = 0; i < sites.weights.size(); ++i) {
    const Weight &weight = sites.weights[i];
    const onnx::NodeProto &node = session.graph.node(weight.nodes[0]);
    LayerReport &layer = report.layers.emplace_back();
    layer.node = node.name().empty() ? node.output(0) : node.name();
    layer.type = node.op_type();
    layer.precision = precisionOf(session, weight);
    layer.bytesBefore = weight.elements() * 4;
    layer.bytesAfter = bytesOf(weight);
    layer.reason = session.weightReason[i];
    int operand = -1;
    if (!weight.data.empty())
      operand = sites.activation(weight.data[0]);
    while (operand >= 0 && sites.activations[operand].follows >= 0)
      operand = sites.activations[operand].follows;
    if (operand >= 0 && !session.activationReason[operand].empty())
      layer.reason += (layer.reason.empty() ? "" : "; ") +
                      ("its input: " + session.activationReason[operand]);
    operands.push_back(operand);
    layer.alone = layer.accumulated = INFINITY;
  }
  for (auto [i, activation] : llvm::enumerate(sites.activations))
    if (activation.follows < 0) {
      report.activations += 1;
      report.wideActivations += activation.bits == 16;
      report.floatActivations += activation.bits == 0;
    }
  if (session.samples.size() == 0 || sites.weights.empty())
    return true;
  size_t count =
      std::min<size_t>(session.affordable(2 * double(operands.size()), 4), 32);
  Loss all, loss;
  if (!session.measure(count, all))
    return false;
  auto setFloat = [&](size_t i, bool isPlain) {
    if (operands[i] >= 0)
      session.setFloat(operands[i]);
    if (session.isOpen())
      session.setFloatWeight(i, isPlain);
  };
  auto apply = [&](size_t i) {
    if (operands[i] >= 0)
      session.apply(operands[i]);
    if (session.isOpen())
      session.applyWeight(i);
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    setFloat(i, false);
    if (!session.measure(count, loss))
      return false;
    apply(i);
    report.layers[i].alone = decibels(all.noise - loss.noise);
  }
  for (size_t i = 0; i < sites.activations.size(); ++i)
    session.setFloat(i);
  for (size_t i = 0; i < operands.size(); ++i)
    setFloat(i, true);
  for (size_t i = 0; i < operands.size(); ++i) {
    apply(i);
    if (!session.measure(count, loss))
      return false;
    report.layers[i].accumulated = decibels(loss.noise);
  }
  for (size_t i = 0; i < sites.activations.size(); ++i)
    if (sites.activations[i].follows < 0)
      session.apply(i);
  return true;
}

static std::string decibelText(double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (std::isfinite(value))
    os << llvm::format("%.1f", value);
  else
    os << "-";
  return text;
}

void QuantizeReport::print(llvm::raw_ostream &os) const {
  size_t width = 5;
  for (const LayerReport &layer : layers)
    width = std::max(width, std::min<size_t>(layer.node.size(), 40));
  if (!layers.empty())
    os << llvm::left_justify("layer", width + 2)
       << "operator       precision          bytes  before    dB  so far\n";
  for (const LayerReport &layer : layers) {
    os << llvm::left_justify(printable(layer.node, 40), width + 2)
       << llvm::left_justify(layer.type, 15)
       << llvm::left_justify(layer.precision, 16)
       << llvm::format("%8lld%8lld", static_cast<long long>(layer.bytesAfter),
                       static_cast<long long>(layer.bytesBefore))
       << llvm::right_justify(decibelText(layer.alone), 6)
       << llvm::right_justify(decibelText(layer.accumulated), 8)
       << (layer.reason.empty() ? "" : "  " + layer.reason) << "\n";
  }
  os << llvm::format("%lld bytes, %lld before",
                     static_cast<long long>(bytesAfter),
                     static_cast<long long>(bytesBefore));
  if (activations)
    os << "; " << activations << " activations, " << wideActivations
       << " in 16 bits, " << floatActivations << " in float";
  os << "\n";
  if (samples == 0)
    return;
  os << llvm::format("%s dB on %zu samples; the largest output changed in %.2f "
                     "%% of the rows\n",
                     decibelText(this->decibels).c_str(), samples,
                     100 * changed);
  if (correctAfter)
    os << llvm::format("%.2f %% of the labels are correct, %.2f %% before\n",
                       100 * *correctAfter, 100 * *correctBefore);
}

void QuantizeReport::printJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  // JSON has no infinity: the decibels of a lossless layer are omitted.
  auto number = [&](llvm::StringRef name, double value) {
    if (std::isfinite(value))
      json.attribute(name, value);
  };
  json.object([&] {
    json.attribute("bytes", bytesAfter);
    json.attribute("bytes_before", bytesBefore);
    json.attribute("samples", int64_t(samples));
    number("decibels", this->decibels);
    json.attribute("changed", changed);
    if (correctAfter) {
      json.attribute("correct", *correctAfter);
      json.attribute("correct_before", *correctBefore);
    }
    json.attributeArray("layers", [&] {
      for (const LayerReport &layer : layers)
        json.object([&] {
          json.attribute("node", printable(layer.node));
          json.attribute("operator", layer.type);
          json.attribute("precision", layer.precision);
          json.attribute("bytes", layer.bytesAfter);
          json.attribute("bytes_before", layer.bytesBefore);
          number("decibels", layer.alone);
          number("decibels_so_far", layer.accumulated);
          if (!layer.reason.empty())
            json.attribute("reason", layer.reason);
        });
    });
  });
  os << "\n";
}

} // namespace ingot::quantize
