// Draws the page of `ingot report` from the JSON in the element `data`.
"use strict";
(function () {
const all = JSON.parse(document.getElementById("data").textContent);
const reports = [all, ...(all.other_targets || [])];
const byId = id => document.getElementById(id);
const integer = d3.format(",");
const number = v => v === undefined || v === null ? "" : Number.isInteger(v) ? integer(v) : Math.abs(v) >= 100 ? integer(Math.round(v))
  : d3.format(".3~g")(v);
const short = (text, most) => text.length <= most ? text : text.slice(0, most / 2 - 1) + "\u2026" + text.slice(text.length - most / 2);

// The kinds of kernels, recognized by the names of their strategies (ways to build
// loops), and their colors in both themes.
const kinds = [["convolution", /conv|winograd|depthwise/, "#3b7dd8"], ["product", /product|matmul|gemm|attention|recurrence|dot/, "#8e5bc8"],
  ["pooling, reduction", /pool|reduc|norm|softmax|scan/, "#d9822b"], ["data movement", /transpose|copy|gather|concat|pad|slice|resize/, "#7a8594"],
  ["elementwise, other", /.*/, "#2f9e77"]];
const kindOf = strategy => kinds.find(k => k[1].test(strategy || ""));

let report, calls, nodes, nodeOf, callsOfKernel, callsOfNode, sourceOf, decibelsOf, chosen = null, view = "compiled", part = 0, layouts = {};

/// Shows the report with this index, and builds its lookup tables.
function load(index) {
  report = reports[index];
  calls = report.groups || [];
  calls.forEach((call, i) => { call.index = i; });
  nodes = report.nodes || [];
  nodeOf = new Map();
  nodes.forEach(node => { if (!nodeOf.has(node.name)) nodeOf.set(node.name, node); });
  decibelsOf = new Map((report.tensor_errors || []).map(error => [error.tensor, error.decibels]));
  sourceOf = new Map((report.sources || []).map(source => [source.kernel, source]));
  callsOfKernel = d3.group ? d3.group(calls, c => c.kernel) : new Map(d3.nest().key(c => c.kernel).entries(calls).map(e => [e.key, e.values]));
  callsOfNode = new Map();
  calls.forEach(call => call.nodes.forEach(name => {
    if (!callsOfNode.has(name))
      callsOfNode.set(name, []);
    callsOfNode.get(name).push(call);
  }));
  nodes.forEach(node => (node.kernels || []).forEach(kernel => (callsOfKernel.get(kernel) || []).forEach(call => {
    if (callsOfNode.has(node.name) || call.nodes.length)
      return;
    callsOfNode.set(node.name, [call]);
  })));
  layouts = {};
  chosen = null;
  part = 0;
  view = calls.length ? "compiled" : "imported";
  d3.selectAll("#targets button").attr("aria-selected", (r, i) => String(i === index));
  drawNotices();
  drawTotals();
  drawTable();
  drawMemory();
  drawRoofline();
  drawFlash();
  drawQuantization();
  drawGraph();
  inspect();
}

// ------------------------------------------------------------------ overview

function drawNotices() {
  const box = d3.select("#notices").html("");
  if (!report.compiles) {
    const notice = box.append("div").attr("class", "notice bad");
    notice.append("b").text(`The model does not compile for ${report.target}`);
    report.diagnostics.forEach(d => {
      const item = notice.append("p");
      item.append("code").text(d.id);
      item.append("span").text(`: ${d.message}${d.count > 1 ? ` (${d.count} nodes)` : ""} `);
      if (d.node)
        item.append("button").attr("type", "button").text(d.node).on("click", () => select({node: d.node}));
      if (d.supported)
        notice.append("p").text(`supported: ${d.supported}`);
      (d.hints || []).forEach(hint => notice.append("p").text(`hint: ${hint}`));
    });
  } else if (report.diagnostics.length) {
    const notice = box.append("div").attr("class", "notice bad");
    report.diagnostics.forEach(d => notice.append("p").text(`${d.id}: ${d.message}`));
  }
  const sizes = Object.entries(report.chosen_sizes || {});
  if (sizes.length) {
    const notice = box.append("div").attr("class", "notice");
    notice.append("span").text(`The model leaves dimensions open. These figures are for ${sizes.map(s => s.join("=")).join(", ")}. Bind them: `);
    notice.append("code").text(sizes.map(s => `--dim ${s.join("=")}`).join(" "));
  }
  if (report.unmeasured)
    box.append("div").attr("class", "notice").text(`Code and stack are unknown: ${report.unmeasured}`);
}

const totals = [["flash_bytes", "flash, bytes"], ["ram_bytes", "RAM, bytes"], ["arena_bytes", "arena, bytes"], ["stack_bytes", "stack, bytes"],
  ["state_bytes", "state, bytes"], ["code_bytes", "code, bytes"], ["weight_bytes", "weights, bytes"], ["macs", "MACs"],
  ["parameters", "parameters"], ["predicted_cycles", "predicted cycles"], ["predicted_microseconds", "predicted \u00b5s"],
  ["measured_microseconds", "measured \u00b5s"], ["output_decibels", "signal to noise, dB"], ["kernels", "different kernels"]];

function drawTotals() {
  const notes = {arena_bytes: `lower bound ${number(report.arena_lower_bound)}`, kernels: `${calls.length} calls`,
    weight_bytes: report.flash_bytes ? `${d3.format(".0%")(report.weight_bytes / report.flash_bytes)} of flash` : "",
    predicted_cycles: "the estimate for choosing kernels", measured_microseconds: `median of ${number(report.measured_runs)} runs`,
    output_decibels: `of the outputs, against ${report.against}`};
  const known = totals.filter(t => report[t[0]] !== undefined);
  const cards = d3.select("#totals").html("").selectAll("div").data(known).enter().append("div").attr("class", "card");
  cards.append("span").text(t => t[1]);
  cards.append("b").text(t => number(report[t[0]]));
  cards.append("i").text(t => notes[t[0]] || "");
  const extra = d3.select("#totals").append("div").attr("class", "card");
  extra.append("span").text("model");
  extra.append("b").text(`${integer(nodes.length)} nodes`);
  extra.append("i").text([report.producer, ...Object.entries(report.opsets || {}).map(o => `${/^(ai.onnx)?$/.test(o[0]) ? "opset" : o[0]} ${o[1]}`)].filter(t => t).join(", "));
}

function drawComparison() {
  if (reports.length < 2)
    return;
  byId("comparison").hidden = false;
  const table = d3.select("#comparison table");
  table.append("thead").append("tr").selectAll("th").data(["", ...reports.map(r => r.target)]).enter().append("th")
    .attr("class", (t, i) => i ? null : "text").text(t => t);
  const known = totals.filter(t => reports.some(r => r[t[0]] !== undefined));
  const rows = table.append("tbody").selectAll("tr").data([["compiles", "compiles"], ...known]).enter().append("tr");
  rows.selectAll("td").data(t => {
    const values = reports.map(r => r[t[0]]), least = d3.min(values);
    const differs = d3.max(values) !== least;
    return [{text: t[1], label: true}, ...values.map(v => ({text: typeof v === "boolean" ? (v ? "yes" : "no") : number(v) || "?",
      best: differs && v === least && typeof v === "number"}))];
  }).enter().append("td").attr("class", c => c.label ? "text" : c.best ? "best" : null).text(c => c.text);
}

// --------------------------------------------------------------------- tables

/// Fills a sortable table. Each column is [title, function from a row to its value,
/// isText, hint, format of numbers, function from a row to the length of its bar (0 to 1)];
/// options.select is called with a row that is clicked.
function fillTable(section, columns, rows, options) {
  const root = d3.select(section), state = root.node().sorting || (root.node().sorting = {});
  const head = root.select("thead").html("").append("tr").selectAll("th").data(columns).enter().append("th")
    .attr("class", c => c[2] ? "text" : null).attr("aria-sort", c => state.title === c[0] ? (state.up ? "ascending" : "descending") : null);
  head.append("button").attr("type", "button").attr("title", c => c[3] || "Sort")
    .text(c => c[0] + (state.title === c[0] ? (state.up ? " \u25b2" : " \u25bc") : "")).on("click", c => {
      state.up = state.title === c[0] ? !state.up : Boolean(c[2]) || c[0] === "#";
      state.title = c[0];
      fillTable(section, columns, rows, options);
    });
  const by = columns.find(c => c[0] === state.title);
  let sorted = rows;
  if (by)
    sorted = rows.slice().sort((a, b) => (state.up ? 1 : -1) * d3.ascending(by[1](a) === undefined ? -1 : by[1](a), by[1](b) === undefined ? -1 : by[1](b)));
  const lines = root.select("tbody").html("").selectAll("tr").data(sorted).enter().append("tr").attr("class", "row")
    .attr("tabindex", (r, i) => i ? -1 : 0).on("click", options.select).on("keydown", function (row) {
      const key = d3.event.key, next = key === "ArrowDown" ? this.nextSibling : key === "ArrowUp" ? this.previousSibling : null;
      if (key === "Enter" || key === " ")
        options.select(row);
      else if (next)
        next.focus();
      else
        return;
      d3.event.preventDefault();
    });
  lines.each(function (row) {
    const line = d3.select(this);
    columns.forEach(c => {
      const value = c[1](row), cell = line.append("td").attr("class", c[2] ? "text" : null);
      cell.text(typeof value === "number" ? (c[4] || number)(value) : value === undefined ? "" : value);
      if (c[2])
        cell.attr("title", value);
      if (c[5])
        cell.attr("class", "share").style("background-size", `${100 * c[5](row)}% 70%`);
    });
  });
}

/// Returns the key of the most precise time that the kernel calls have:
/// measured, predicted for a GPU, or predicted for a processor core.
const timeKey = () => ["measured_microseconds", "microseconds"].find(key => calls.some(c => c[key] !== undefined)) || "cycles";

function drawTable() {
  const time = timeKey();
  const sum = d3.sum(calls, c => c[time]), percent = d3.format(".1%");
  const most = key => d3.max(calls, c => c[key]) || 1;
  const columns = [["#", c => c.index], ["strategy", c => c.strategy, true], ["result", c => c.result, true],
    ["MACs", c => c.macs, false, "multiply-accumulate operations", number, c => c.macs / most("macs")],
    ["bytes moved", c => c.bytes, false, "bytes that the kernel reads and writes", number, c => c.bytes / most("bytes")],
    ["MACs/byte", c => c.bytes ? c.macs / c.bytes : 0, false, "arithmetic intensity: the position on the roofline"],
    ["weights", c => c.weight_bytes, false, "flash for constants; counted at the first call that reads them", number, c => c.weight_bytes / most("weight_bytes")],
    ["code", c => c.code_bytes, false, "flash for code; counted at the first call of the kernel"],
    ["RAM live", c => c.arena_bytes, false, "bytes of the arena that are live during the call", number, c => c.arena_bytes / most("arena_bytes")],
    ["stack", c => c.stack_bytes],
    ["predicted cycles", c => c.cycles], ["predicted \u00b5s", c => c.microseconds],
    ["measured \u00b5s", c => c.measured_microseconds],
    ["share", c => sum && c[time] !== undefined ? c[time] / sum : undefined, false, "share of the measured time, or else of the predicted time", percent, c => sum ? c[time] / sum : 0],
    ["of peak", c => c.cycles && c.least_cycles ? c.least_cycles / c.cycles : undefined, false, "MACs at the peak rate of the core / predicted", percent],
    ["bound by", c => c.bound, true], ["nodes", c => c.nodes.join(" "), true], ["kernel", c => c.kernel, true]]
    .filter(c => c[0] === "#" || calls.some(k => c[1](k) !== undefined));
  byId("kernels").hidden = !calls.length;
  fillTable("#kernels", columns, calls, {select: call => select({call: call.index})});
}

// ---------------------------------------------------------------- memory plan

function drawMemory() {
  const buffers = (report.buffers || []).filter(b => !b.second_memory), section = byId("memory");
  section.hidden = !buffers.length;
  if (!buffers.length)
    return;
  const svg = d3.select("#memory svg").html("").attr("class", "chart"), width = svg.node().clientWidth || 1200, height = 400;
  svg.attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
  const x = d3.scaleLinear([0, calls.length], [84, width - 12]), y = d3.scaleLinear([0, report.arena_bytes], [height - 46, 24]);
  const color = d3.scaleOrdinal(d3.schemeTableau10);
  const live = calls.map(c => c.arena_bytes), peak = live.indexOf(d3.max(live));
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 46})`)
    .call(d3.axisBottom(x).ticks(Math.min(calls.length, 20)).tickFormat(d3.format("d")));
  svg.append("g").attr("class", "axis").attr("transform", "translate(84,0)").call(d3.axisLeft(y).ticks(8).tickFormat(integer));
  svg.append("text").attr("x", (width + 84) / 2).attr("y", height - 10).attr("text-anchor", "middle").text("kernel call (time)");
  svg.append("text").attr("transform", `translate(14,${height / 2}) rotate(-90)`).attr("text-anchor", "middle").text("address in the arena");
  svg.append("rect").attr("class", "now").attr("y", 24).attr("height", height - 70);
  const boxes = svg.selectAll("g.buffer").data(buffers).enter().append("g").attr("class", "buffer");
  const top = b => y(b.offset + b.bytes), tall = b => Math.max(y(b.offset) - top(b), 1), wide = b => Math.max(x(b.last + 1) - x(b.first), 1);
  boxes.append("rect").attr("class", "buffer").attr("x", b => x(b.first)).attr("y", top).attr("width", wide).attr("height", tall)
    .attr("rx", 2).attr("fill", (b, i) => color(i % 10)).on("click", b => select({call: b.first}))
    .append("title").text(b => `${b.nodes.join(" ")}\n${b.type}\n${integer(b.bytes)} bytes at ${integer(b.offset)}, calls ${b.first} to ${b.last}`);
  buffers.forEach((b, i) => { b.ink = d3.lab(color(i % 10)).l > 62 ? "#1c2430" : "#fff"; });
  boxes.filter(b => wide(b) > 60 && tall(b) > 13).append("text").attr("class", "inside").style("fill", b => b.ink).attr("x", b => x(b.first) + 5)
    .attr("y", b => top(b) + Math.min(tall(b) / 2 + 4, 14)).text(b => short(`${b.nodes[0] || ""} ${b.type}`, Math.floor((wide(b) - 8) / 6.2)));
  const at = x(peak + .5), left = at > width - 260;
  svg.append("line").attr("class", "peak").attr("x1", at).attr("x2", at).attr("y1", 18).attr("y2", height - 46);
  svg.append("text").attr("class", "peaklabel").attr("x", at + (left ? -6 : 6)).attr("y", 16).attr("text-anchor", left ? "end" : "start")
    .text(`peak: ${integer(live[peak] || 0)} bytes live in call ${peak}`);
  const gap = report.arena_bytes - report.arena_lower_bound;
  d3.select("#memory .hint").text(`Each rectangle is a buffer of the arena: from left to right the kernel calls in which it is live, from bottom to top its ` +
    `addresses. The arena has ${integer(report.arena_bytes)} bytes, ${gap > 0 ? `${integer(gap)} more than` : "no more than"} the largest live set.`);
  section.mark = () => {
    const call = chosen && chosen.call;
    svg.select(".now").attr("x", call === undefined || call === null ? 0 : x(call)).attr("width", call === undefined || call === null ? 0 : x(1) - x(0));
    boxes.attr("opacity", b => call === undefined || call === null || (b.first <= call && call <= b.last) ? 1 : .35);
  };
}

// ------------------------------------------------------------------- roofline

function drawRoofline() {
  const points = calls.filter(c => c.macs && c.cycles && c.bytes), section = byId("roofline");
  section.hidden = !points.length;
  if (!points.length)
    return;
  const svg = d3.select("#roofline svg").html("").attr("class", "chart"), width = svg.node().clientWidth || 1200, height = 320;
  svg.attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
  // Winograd kernels are excluded from the peak, since they execute fewer
  // multiplications than they have MACs.
  const direct = points.filter(c => c.strategy !== "winograd");
  const peak = d3.max(direct.length ? direct : points, c => c.least_cycles ? c.macs / c.least_cycles : c.macs / c.cycles);
  const intensity = c => c.macs / c.bytes, speed = c => c.macs / c.cycles;
  const x = d3.scaleLog([d3.min(points, intensity) / 2, d3.max(points, intensity) * 2], [70, width - 20]);
  const y = d3.scaleLog([d3.min(points, speed) / 2, Math.max(peak * 2, d3.max(points, speed) * 1.3)], [height - 44, 14]);
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 44})`).call(d3.axisBottom(x).ticks(8, "~g"));
  svg.append("g").attr("class", "axis").attr("transform", "translate(70,0)").call(d3.axisLeft(y).ticks(5, "~g"));
  svg.append("text").attr("x", (width + 70) / 2).attr("y", height - 8).attr("text-anchor", "middle").text("MACs per byte moved");
  svg.append("text").attr("transform", `translate(14,${height / 2}) rotate(-90)`).attr("text-anchor", "middle").text("MACs per cycle (predicted)");
  svg.append("path").attr("class", "roof").attr("d", `M70,${y(peak)}H${width - 20}`);
  svg.append("text").attr("x", width - 24).attr("y", y(peak) - 5).attr("text-anchor", "end").text(`peak: ${number(peak)} MACs per cycle`);
  const largest = d3.max(points, c => c.cycles);
  const dots = svg.selectAll("circle").data(points).enter().append("circle").attr("cx", c => x(intensity(c))).attr("cy", c => y(speed(c)))
    .attr("r", c => 3.5 + 9 * Math.sqrt(c.cycles / largest)).attr("fill", c => kindOf(c.strategy)[2]).attr("fill-opacity", .75)
    .on("click", c => select({call: c.index}));
  dots.append("title").text(c => `call ${c.index}: ${c.strategy}\n${c.nodes.join(" ")}\n${number(intensity(c))} MACs per byte, ${number(speed(c))} MACs per cycle`);
  d3.select("#roofline .hint").text("Each circle is a kernel call, its area the predicted time. Circles far below the line leave performance unused; " +
    "those at the left move many bytes for each MAC, and are limited by memory." +
    (d3.max(points, speed) > peak * 1.01 ? " Those above it (Winograd) need fewer multiplications than MACs." : ""));
  section.mark = () => dots.classed("selected", c => chosen && chosen.call === c.index);
}

// ---------------------------------------------------------------------- flash

function drawFlash() {
  const constants = (report.constants || []).slice().sort((a, b) => b.bytes - a.bytes), section = byId("flash");
  section.hidden = !calls.length;
  const code = report.code_bytes, weights = d3.sum(constants, c => c.bytes);
  const other = report.flash_bytes ? Math.max(report.flash_bytes - code - weights, 0) : 0;
  const parts = [["code", code || 0, "#3b7dd8"], ["weights", weights, "#8e5bc8"], ["other constants", other, "#7a8594"]].filter(p => p[1] > 0);
  const sum = d3.sum(parts, p => p[1]) || 1;
  d3.select("#flash .stack").html("").selectAll("div").data(parts).enter().append("div").style("width", p => `${100 * p[1] / sum}%`)
    .style("background", p => p[2]).attr("title", p => `${p[0]}: ${integer(p[1])} bytes`).text(p => p[1] / sum > .06 ? `${p[0]} ${integer(p[1])}` : "");
  d3.select("#flash .hint").text(report.flash_bytes ? `${integer(report.flash_bytes)} bytes of flash: code, and constants by size.` : "Constants by size.");
  const most = constants.length ? constants[0].bytes : 1;
  fillTable("#flash", [["constant", c => c.name || c.nodes.join(" "), true], ["bytes", c => c.bytes, false, "", number, c => c.bytes / most],
    ["share", c => c.bytes / sum, false, "share of flash", d3.format(".1%")], ["type", c => c.type, true],
    ["of", c => c.nodes.join(" "), true], ["read by calls", c => c.read_by.slice(0, 8).join(" ") + (c.read_by.length > 8 ? " \u2026" : ""), true]],
    constants.slice(0, 300), {select: c => c.read_by.length && select({call: c.read_by[0]})});
}

// --------------------------------------------------------------- quantization

function drawQuantization() {
  const tensors = report.quantization || [], hint = d3.select("#quantization .hint");
  const saved = report.weight_bytes ? report.weight_bytes * 3 / 4 : 0;
  d3.select("#quantization .scroll").style("display", tensors.length ? null : "none");
  byId("quantization").hidden = !calls.length && !tensors.length;
  if (!tensors.length) {
    hint.text(`The model is not quantized. int8 weights would need about ${integer(Math.round((report.weight_bytes || 0) / 4))} bytes of flash ` +
      `instead of ${integer(report.weight_bytes || 0)}, ${integer(Math.round(saved))} less; \`ingot quantize\` does that and measures the accuracy.`);
    return;
  }
  const kept = report.quantized_weights;
  hint.text(`Type and step of each quantized tensor. A value in the range of the type is off by half a step at most (the rounding error). ` +
    (kept ? `Attention: ${integer(kept.bytes)} bytes of quantized weights are stored as ${kept.stored_as} in ${integer(kept.stored_bytes)} bytes.` : ""));
  const cyclesOf = name => d3.sum(callsOfNode.get(name) || [], c => c.cycles);
  const all = d3.sum(calls, c => c.cycles) || 1;
  fillTable("#quantization", [["layer", t => t.node, true], ["tensor", t => t.tensor, true], ["kind", t => t.kind, true], ["type", t => t.type, true],
    ["step", t => t.scale], ["steps", t => t.scales, false, "1: per tensor, otherwise one for each channel"], ["rounding error", t => t.rounding_error],
    ["dB", t => t.decibels, false, "signal-to-noise ratio of the layer's output, or of the quantized tensor, against the model of --against"],
    ["error", t => t.relative_error, false, "largest error of this tensor in units of its range", d3.format(".2%")],
    ["elements", t => t.elements], ["bytes saved", t => t.elements ? t.elements * (t.type.endsWith("4") ? 3.5 : 3) : undefined, false, "against float32"],
    ["predicted cycles", t => cyclesOf(t.node) || undefined], ["share", t => cyclesOf(t.node) / all || undefined, false, "share of the predicted time", d3.format(".1%")]]
    .filter(c => tensors.some(t => c[1](t) !== undefined)), tensors, {select: t => select({node: t.node})});
}

// ---------------------------------------------------------------------- graph

const mostBoxes = 240;

/// Returns the boxes of the graph to be drawn, and the edges between them.
function boxesOf() {
  const boxes = [], boxesOfNode = new Map(), edges = new Map();
  const add = box => {
    box.id = String(boxes.length);
    boxes.push(box);
    box.nodes.forEach(name => {
      if (!boxesOfNode.has(name))
        boxesOfNode.set(name, []);
      const others = boxesOfNode.get(name);
      if (others.length && others[others.length - 1] !== box)
        edge(others[others.length - 1], box, "");
      others.push(box);
    });
    return box;
  };
  const edge = (from, to, tensor) => { if (from !== to) edges.set(`${from.id} ${to.id}`, {from, to, tensor}); };
  const inputs = new Map((report.inputs || []).map(v => [v.name, add({io: true, title: "input", lines: [["", v.name], ["", v.type]], nodes: [], calls: []})]));
  if (view === "compiled") {
    const same = new Map();
    calls.forEach(call => {
      const key = call.nodes.join("\n") || `#${call.index}`;
      if (same.has(key)) {
        same.get(key).calls.push(call.index);
        return;
      }
      const box = add({title: call.strategy, calls: [call.index], nodes: call.nodes, kind: kindOf(call.strategy),
        lines: call.nodes.slice(0, 7).map(name => [(nodeOf.get(name) || {operator: ""}).operator, name])
          .concat(call.nodes.length > 7 ? [["", `and ${call.nodes.length - 7} more`]] : [])});
      same.set(key, box);
    });
    boxes.forEach(box => { if (box.calls.length > 1) box.title += ` \u00d7 ${box.calls.length}`; });
  } else {
    const wrong = new Set((report.diagnostics || []).map(d => d.node));
    nodes.forEach(node => {
      const own = callsOfNode.get(node.name) || [];
      add({title: node.operator, calls: own.map(c => c.index), nodes: [node.name], lines: [["", node.graph ? `${node.graph}: ${node.name}` : node.name]],
        kind: own.length ? kindOf(own[0].strategy) : null, quiet: Boolean(node.reason), fault: wrong.has(node.name)});
    });
  }
  const producers = new Map();
  nodes.forEach(node => node.outputs.forEach(tensor => producers.set(`${node.graph || ""}\n${tensor}`, node)));
  const connect = (to, node, tensor, seen) => {
    const from = producers.get(`${node.graph || ""}\n${tensor}`) || producers.get(`\n${tensor}`);
    if (!from) {
      if (inputs.has(tensor))
        edge(inputs.get(tensor), to, tensor);
      return;
    }
    const sources = boxesOfNode.get(from.name);
    if (sources) {
      // The tensor of a node that several kernels compute is complete after the last of
      // them, so the edge starts there.
      edge(sources[sources.length - 1], to, tensor);
    } else if (!seen.has(from)) {
      seen.add(from);
      from.inputs.forEach(input => connect(to, from, input, seen));
    }
  };
  boxes.slice().forEach(box => box.nodes.forEach(name => {
    const node = nodeOf.get(name);
    if (node && boxesOfNode.get(name)[0] === box)
      node.inputs.forEach(tensor => connect(box, node, tensor, new Set()));
  }));
  (report.outputs || []).forEach(v => {
    const box = add({io: true, title: "output", lines: [["", v.name], ["", v.type]], nodes: [], calls: []});
    connect(box, {graph: ""}, v.name, new Set());
  });
  // Drops edges to a box of an earlier call, which would be drawn as loops.
  // Such edges belong to nodes that several kernels share.
  const list = [...edges.values()].filter(e => e.to.title === "output" || +e.from.id < +e.to.id);
  return {boxes, edges: list};
}

function layoutOf() {
  const key = `${view} ${part}`;
  if (layouts[key])
    return layouts[key];
  const whole = layouts[view] || (layouts[view] = boxesOf());
  const count = Math.max(1, Math.ceil(whole.boxes.length / mostBoxes));
  const own = whole.boxes.slice(part * mostBoxes, (part + 1) * mostBoxes);
  const ids = new Set(own.map(b => b.id));
  const graph = new dagre.graphlib.Graph().setGraph({ranksep: 28, nodesep: 20, ranker: own.length > 120 ? "longest-path" : "network-simplex"})
    .setDefaultEdgeLabel(() => ({}));
  own.forEach(box => {
    const labels = box.lines.map(l => (l[0] ? `${l[0]}  ` : "") + short(l[1], 36));
    box.width = Math.max(70, 20 + 6.4 * d3.max(labels, l => l.length), 22 + 7.1 * box.title.length);
    box.height = 24 + 14 * box.lines.length;
    graph.setNode(box.id, {box, width: box.width, height: box.height});
  });
  whole.edges.filter(e => ids.has(e.from.id) && ids.has(e.to.id)).forEach(e => graph.setEdge(e.from.id, e.to.id, {edge: e}));
  dagre.layout(graph);
  own.forEach(box => Object.assign(box, {x: graph.node(box.id).x, y: graph.node(box.id).y}));
  return layouts[key] = {graph, boxes: own, count};
}

const zoom = d3.zoom().scaleExtent([.02, 4]).on("zoom", () => d3.select("#graph > g").attr("transform", d3.event.transform));
const plane = d3.select("#graph").call(zoom).on("dblclick.zoom", null);

function drawGraph() {
  byId("graphs").hidden = !calls.length && !nodes.length;
  d3.selectAll("[data-view]").attr("aria-pressed", function () { return String(this.dataset.view === view); })
    .attr("disabled", function () { return this.dataset.view === "compiled" && !calls.length ? "" : null; });
  const {graph, boxes, count} = layoutOf();
  byId("parts").hidden = count < 2;
  d3.select("#parts select").html("").selectAll("option").data(d3.range(count)).enter().append("option").attr("value", i => i)
    .property("selected", i => i === part).text(i => `${i + 1} of ${count}`);
  const root = plane.html("").append("g");
  const line = d3.line().x(p => p.x).y(p => p.y).curve(d3.curveBasis);
  root.selectAll("path").data(graph.edges().map(e => graph.edge(e))).enter().append("path").attr("class", "edge").attr("d", e => line(e.points))
    .append("title").text(e => e.edge.tensor);
  const group = root.selectAll("g").data(boxes).enter().append("g").attr("class", "box").classed("quiet", b => b.quiet).classed("fault", b => b.fault)
    .attr("transform", b => `translate(${b.x - b.width / 2},${b.y - b.height / 2})`).on("click", selectBox);
  group.append("title").text(b => [b.title, ...b.nodes].join("\n"));
  const color = b => b.io ? "var(--quiet)" : b.kind ? b.kind[2] : "var(--edge)";
  group.append("rect").attr("width", b => b.width).attr("height", b => b.height).attr("rx", b => b.io ? 14 : 5).attr("fill", color)
    .attr("fill-opacity", .16).attr("stroke", color);
  group.append("text").attr("class", "title").attr("x", 9).attr("y", 16).text(b => b.title);
  group.each(function (b) {
    b.lines.forEach((l, i) => {
      const text = d3.select(this).append("text").attr("x", 9).attr("y", 31 + 14 * i);
      if (l[0])
        text.append("tspan").attr("class", "op").text(`${l[0]}  `);
      text.append("tspan").text(short(l[1], 36));
    });
  });
  d3.select("#legend").html("").selectAll("span").data(kinds.filter(k => calls.some(c => kindOf(c.strategy) === k))).enter().append("span")
    .html(k => `<i style="background:${k[2]}"></i>${k[0]}`);
  fit();
  markGraph(false);
}

function fit(overview) {
  const {graph} = layoutOf(), size = graph.graph(), box = plane.node().getBoundingClientRect();
  if (!(size.width > 0) || !(box.width > 0))
    return;
  const scale = Math.min(1.2, box.width / (size.width + 40), overview ? box.height / (size.height + 40) : Infinity);
  const readable = overview ? scale : Math.max(scale, .55);
  plane.call(zoom.transform, d3.zoomIdentity.translate(box.width / 2 - size.width / 2 * readable, 14).scale(readable));
}

const isChosen = b => chosen && (chosen.node !== undefined ? b.nodes.includes(chosen.node) : b.calls.includes(chosen.call));

function markGraph(moves) {
  plane.selectAll("g.box").classed("selected", isChosen);
  plane.selectAll("path.edge").classed("near", e => isChosen(e.edge.from) || isChosen(e.edge.to));
  const box = moves && layoutOf().boxes.find(isChosen);
  if (!box)
    return;
  const frame = plane.node().getBoundingClientRect(), scale = Math.max(d3.zoomTransform(plane.node()).k, .7);
  plane.transition().duration(250).call(zoom.transform, d3.zoomIdentity.translate(frame.width / 2 - box.x * scale, frame.height / 2 - box.y * scale).scale(scale));
}

function selectBox(box) {
  if (view === "imported")
    select({node: box.nodes[0]}, true);
  else if (box.calls.length)
    select({call: box.calls[0]}, true);
}

// ------------------------------------------------------------------ selection

/// Selects {call: INDEX} or {node: NAME}. The graph scrolls to the selection,
/// unless the click was in the graph.
function select(what, fromGraph) {
  if (what.node === undefined && what.call === undefined)
    return;
  chosen = what;
  if (what.node !== undefined && view === "compiled" && !callsOfNode.has(what.node))
    view = "imported";
  const whole = layouts[view] || (layouts[view] = boxesOf()), at = whole.boxes.findIndex(isChosen);
  const wanted = at < 0 ? part : Math.floor(at / mostBoxes);
  const isDrawn = byId("graph").dataset.shown === `${report.target} ${view} ${wanted}`;
  part = wanted;
  if (!isDrawn)
    redraw();
  markGraph(!fromGraph);
  inspect();
  const own = what.call !== undefined ? new Set([what.call]) : new Set((callsOfNode.get(what.node) || []).map(c => c.index));
  d3.selectAll("#kernels tbody tr").classed("selected", c => own.has(c.index));
  d3.selectAll("#quantization tbody tr").classed("selected", t => what.node !== undefined ? t.node === what.node
    : calls[what.call].nodes.includes(t.node));
  ["memory", "roofline"].forEach(id => byId(id).mark && byId(id).mark());
}

function redraw() {
  drawGraph();
  byId("graph").dataset.shown = `${report.target} ${view} ${part}`;
}

const words = /(\/\/.*$)|\b(alignas|auto|bool|break|case|char|const|constexpr|continue|default|do|double|else|extern|float|for|if|inline|int|int8_t|int16_t|int32_t|int64_t|namespace|return|sizeof|static|static_cast|struct|switch|template|typename|uint8_t|uint16_t|uint32_t|uint64_t|unsigned|using|void|while)\b|\b(\d[\w.]*)/g;

/// Appends a line of C++ with its number.
function appendLine(pre, text, at) {
  pre.append("span").attr("class", "line").text(at);
  let last = 0;
  text.replace(words, (match, comment, keyword, digits, offset) => {
    pre.append("span").text(text.slice(last, offset));
    pre.append("span").attr("class", comment ? "comment" : keyword ? "keyword" : "number").text(match);
    last = offset + match.length;
  });
  pre.append("span").text(text.slice(last) + "\n");
}

function appendSource(box, kernel) {
  const source = sourceOf.get(kernel);
  if (!source) {
    box.append("p").attr("class", "hint").text("This call runs code that is not a function of the generated file.");
    return;
  }
  box.append("div").attr("class", "hint").text(`${source.function}, lines ${source.first_line} to ${source.last_line} of the generated file`);
  const pre = box.append("pre").attr("tabindex", 0), lines = source.text.split("\n");
  lines.forEach((text, i) => appendLine(pre, text, source.first_line + i));
  if (source.first_line + lines.length <= source.last_line)
    pre.append("span").attr("class", "comment").text(`... and ${source.last_line - source.first_line - lines.length + 1} more lines`);
}

function appendLinks(box, title, links) {
  if (!links.length)
    return;
  box.append("div").attr("class", "hint").text(title);
  box.append("div").attr("class", "links").selectAll("button").data(links.slice(0, 60)).enter().append("button").attr("type", "button")
    .attr("title", l => l[0]).text(l => l[0]).on("click", l => select(l[1]));
}

function appendFacts(box, facts) {
  const rows = box.append("table").attr("class", "facts").selectAll("tr").data(facts.filter(f => f[1] !== undefined && f[1] !== "")).enter().append("tr");
  rows.append("td").text(f => f[0]);
  rows.append("td").text(f => typeof f[1] === "number" ? number(f[1]) : f[1]);
}

/// Shows the selected call or node beside the graph.
function inspect() {
  const box = d3.select("#inspector").html("");
  if (!chosen) {
    const time = timeKey(), slow = calls.slice().sort((a, b) => (b[time] || 0) - (a[time] || 0))[0];
    const heavy = calls.slice().sort((a, b) => b.weight_bytes - a.weight_bytes)[0], full = calls.slice().sort((a, b) => b.arena_bytes - a.arena_bytes)[0];
    box.append("h3").text("Nothing selected");
    box.append("p").attr("class", "hint").text("Click a box of the graph, a line of a table or a rectangle of the memory plan: this panel shows what it is, " +
      "the ONNX nodes and the C++ that computes them.");
    const name = c => `${c.strategy}: ${c.nodes[0] || c.kernel}`;
    if (slow)
      appendLinks(box, "Start with", [[`most time: ${name(slow)}`, {call: slow.index}], [`most RAM: ${name(full)}`, {call: full.index}],
        [`most weights: ${name(heavy)}`, {call: heavy.index}]]);
    return;
  }
  if (chosen.node !== undefined) {
    const node = nodeOf.get(chosen.node) || {name: chosen.node, operator: "", inputs: [], outputs: []}, own = callsOfNode.get(node.name) || [];
    box.append("h3").text(`${node.operator} ${node.name}`);
    appendFacts(box, [["inputs", node.inputs.join(", ")], ["outputs", node.outputs.join(", ")], ["graph", node.graph], ["no code", node.reason],
      ["predicted cycles", own.length ? d3.sum(own, c => c.cycles) || undefined : undefined],
      ["measured \u00b5s", own.length ? d3.sum(own, c => c.measured_microseconds) || undefined : undefined],
      ["signal to noise, dB", node.outputs.map(tensor => decibelsOf.get(tensor)).find(d => d !== undefined)]]);
    appendLinks(box, own.length > 1 ? `${own.length} kernel calls compute it` : "The kernel call that computes it", own.map(c => [`call ${c.index}: ${c.strategy}`, {call: c.index}]));
    if (!own.length)
      appendLinks(box, "Nearest kernels", [...new Set((node.kernels || []).flatMap(k => (callsOfKernel.get(k) || []).slice(0, 2)))]
        .map(c => [`call ${c.index}: ${c.strategy}`, {call: c.index}]));
    const kernel = own.length ? own[0].kernel : (node.kernels || [])[0];
    if (kernel)
      appendSource(box, kernel);
    return;
  }
  const call = calls[chosen.call];
  box.append("h3").text(`Call ${call.index}: ${call.strategy}`);
  appendFacts(box, [["result", call.result], ["MACs", call.macs || undefined], ["bytes moved", call.bytes], ["weights, bytes", call.weight_bytes || undefined],
    ["code, bytes", call.code_bytes || undefined], ["RAM live, bytes", call.arena_bytes], ["stack, bytes", call.stack_bytes],
    ["predicted cycles", call.cycles], ["predicted \u00b5s", call.microseconds],
    ["measured \u00b5s", call.measured_microseconds], ["bound by", call.bound], ["note", call.scalar],
    ["plan", call.plan ? Object.entries(call.plan).map(e => e.join("=")).join(", ") : undefined]]);
  appendLinks(box, "ONNX nodes that it computes", call.nodes.map(name => [`${(nodeOf.get(name) || {operator: ""}).operator} ${name}`, {node: name}]));
  appendLinks(box, "Other calls of the same kernel", (callsOfKernel.get(call.kernel) || []).filter(c => c !== call).map(c => [`call ${c.index}`, {call: c.index}]));
  appendSource(box, call.kernel);
}

// --------------------------------------------------------------------- search

let hits = [], current = 0;
function search() {
  const text = byId("search").value.trim().toLowerCase(), list = d3.select("#found"), query = text.split(/\s+/).filter(w => w);
  const matches = words => query.every(w => words.toLowerCase().includes(w));
  const line = /^(?:line|.*:)\s*(\d+)$/.exec(text);
  hits = [];
  if (line) {
    const source = [...sourceOf.values()].find(s => s.first_line <= +line[1] && +line[1] <= s.last_line);
    (source && callsOfKernel.get(source.kernel) || []).slice(0, 1).forEach(c => hits.push(["line", `${source.function}: ${c.nodes.join(" ")}`, {call: c.index}]));
  }
  if (query.length) {
    calls.forEach(c => { if (matches(`${c.strategy} ${c.kernel} ${c.result} ${c.nodes.join(" ")}`)) hits.push(["kernel", `${c.index}: ${c.kernel} (${c.strategy}) ${c.nodes.join(" ")}`, {call: c.index}]); });
    nodes.forEach(n => { if (matches(`${n.operator} ${n.name} ${n.outputs.join(" ")}`)) hits.push(["node", `${n.operator} ${n.name}`, {node: n.name}]); });
  }
  current = 0;
  list.attr("hidden", query.length ? null : "");
  const items = list.html("").selectAll("li").data(hits.slice(0, 100)).enter().append("li").attr("role", "option").attr("aria-selected", (h, i) => String(!i))
    .on("mousedown", h => { d3.event.preventDefault(); take(h); });
  items.append("b").text(h => h[0]);
  items.append("span").text(h => h[1]);
  if (query.length)
    list.append("li").append("span").attr("class", "hint").text(hits.length > 100 ? `${hits.length} found, 100 shown` : `${hits.length} found`);
}
function take(hit) {
  d3.select("#found").attr("hidden", "");
  select(hit[2]);
  byId("graphs").scrollIntoView({block: "start"});
}
d3.select("#search").on("input", search).on("focus", search).on("blur", () => d3.select("#found").attr("hidden", "")).on("keydown", () => {
  const key = d3.event.key;
  if (key === "Enter" && hits.length)
    take(hits[current]);
  else if (key === "Escape")
    byId("search").blur();
  else if ((key === "ArrowDown" || key === "ArrowUp") && hits.length) {
    current = (current + (key === "ArrowDown" ? 1 : Math.min(hits.length, 100) - 1)) % Math.min(hits.length, 100);
    d3.selectAll("#found li[role]").attr("aria-selected", (h, i) => String(i === current)).filter((h, i) => i === current).node().scrollIntoView({block: "nearest"});
  } else
    return;
  d3.event.preventDefault();
});

// ------------------------------------------------------------------- controls

d3.select(document).on("keydown", () => {
  if (d3.event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
    byId("search").focus();
    d3.event.preventDefault();
  }
});
const zoomBy = {in: () => plane.call(zoom.scaleBy, 1.4), out: () => plane.call(zoom.scaleBy, 1 / 1.4), fit: () => fit(true)};
d3.selectAll("[data-zoom]").on("click", function () { zoomBy[this.dataset.zoom](); });
d3.selectAll("[data-view]").on("click", function () {
  view = this.dataset.view;
  part = 0;
  redraw();
  if (chosen)
    select(chosen);
});
d3.select("#parts select").on("change", function () { part = +this.value; redraw(); });
plane.on("keydown", () => {
  const key = d3.event.key, {boxes} = layoutOf(), step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[key];
  if (step) {
    const own = boxes.filter(b => !b.io), at = own.findIndex(isChosen), box = own[at < 0 ? 0 : Math.max(0, Math.min(own.length - 1, at + step))];
    if (box)
      select(view === "imported" ? {node: box.nodes[0]} : {call: box.calls[0]});
  } else if (key === "+" || key === "=" || key === "-" || key === "0")
    zoomBy[key === "-" ? "out" : key === "0" ? "fit" : "in"]();
  else
    return;
  d3.event.preventDefault();
});
d3.select("#theme").on("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => { drawMemory(); drawRoofline(); if (chosen) select(chosen, true); }, 150); });

document.title = `${all.file}: Ingot report`;
d3.select("#title").text(all.file);
d3.select("#targets").selectAll("button").data(reports).enter().append("button").attr("type", "button").attr("role", "tab")
  .text(r => r.target).on("click", (r, i) => { load(i); byId("graph").dataset.shown = `${r.target} ${view} ${part}`; });
drawComparison();
load(0);
byId("graph").dataset.shown = `${report.target} ${view} ${part}`;
document.body.dataset.ready = "yes";
})();
