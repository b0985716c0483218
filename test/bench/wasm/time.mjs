// Times a network in several engines that take turns: node time.mjs PLAN.json, which bench.py writes.
// Prints the least and the median milliseconds of each engine, and how far its first output is from
// that of the first engine, relative to the range of the output.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const plan = JSON.parse(readFileSync(process.argv[2]));
const TURN_MS = 20;

/** Seeded values from -1 to 1, the same for every engine. */
function fill(array, seed) {
  let state = seed;
  for (let i = 0; i < array.length; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const value = state / 2 ** 31 - 1;
    array[i] = array instanceof Float32Array ? value : array instanceof Int8Array ? Math.trunc(100 * value) : 0;
  }
}

const OPEN = {
  /** A module that `ingot export --as web` wrote. */
  async web({ file, level, threads }) {
    const { load } = await import(pathToFileURL(file));
    const net = await load({ level, threads });
    if (net.threads !== threads) throw Error(`runs on ${net.threads} threads`);
    Object.values(net.inputs).forEach((view, i) => fill(view, i + 1));
    return { run: () => net.run(), output: () => Object.values(net.outputs)[0], close: () => net.close() };
  },
  /** A module compiled from the code for `generic`, which exports the addresses of its tensors. */
  async plain({ file, tensors }) {
    const { exports } = (await WebAssembly.instantiate(readFileSync(file))).instance;
    const views = tensors.map(({ type, elements }, i) => new globalThis[type](exports.memory.buffer, exports.tensor(i), elements));
    views.forEach((view, i) => tensors[i].input && fill(view, i + 1));
    const run = () => {
      if (exports.run() !== 0) throw Error("the run failed");
    };
    return { run, output: () => views[tensors.findIndex(({ input }) => !input)], close() {} };
  },
  /** ncnn, called by the program in Peer.cpp. */
  async ncnn({ file, param, weights, shapes, elements, threads }) {
    // Emscripten 3.1 would fetch the module, which Node.js cannot do with files.
    const peer = await createRequire(import.meta.url)(file)({ wasmBinary: readFileSync(file.replace(/js$/, "wasm")) });
    const place = (bytes) => {
      const at = peer._malloc(bytes.length);
      peer.HEAPU8.set(bytes, at);
      return at;
    };
    if (peer._open_network(place(Buffer.concat([readFileSync(param), Buffer.from([0])])), place(readFileSync(weights)), threads))
      throw Error("ncnn does not take the network");
    shapes.forEach((shape, i) => {
      const [width, height = 1, channels = 1] = [...shape].reverse();
      const data = new Float32Array(width * height * channels);
      fill(data, i + 1);
      peer._set_input(i, place(Buffer.from(data.buffer)), shape.length, width, height, channels);
    });
    const run = () => {
      if (peer._run_network() !== 0) throw Error("the run failed");
    };
    const output = () => {
      const at = peer._malloc(4 * elements), found = peer._read_output(at, elements);
      return new Float32Array(peer.HEAPU8.buffer, at, Math.min(found, elements));
    };
    return { run, output, close: () => peer.PThread?.terminateAllThreads() };
  },
};

const engines = [];
for (const engine of plan.engines) {
  try {
    engines.push({ name: engine.name, times: [], ...(await OPEN[engine.kind](engine)) });
  } catch (error) {
    console.error(`${engine.name}: ${error.message}`);
  }
}
// The first turns are warm-up: V8 replaces the code of its baseline compiler by optimized code.
const start = performance.now();
for (let warm = true; ; ) {
  const elapsed = (performance.now() - start) / 1000;
  if (elapsed > plan.warmUp + plan.seconds) break;
  if (warm && elapsed > plan.warmUp) {
    warm = false;
    for (const engine of engines) engine.times = [];
  }
  for (const { run, times } of engines) {
    for (const turn = performance.now(); performance.now() - turn < TURN_MS; ) {
      const before = performance.now();
      run();
      times.push(performance.now() - before);
    }
  }
  // Lets the event loop run, so that optimized code from V8's compiler threads is installed.
  await new Promise((resolve) => setTimeout(resolve));
}
const result = {};
const right = Float64Array.from(engines[0].output());
const range = right.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
for (const { name, times, output } of engines) {
  times.sort((a, b) => a - b);
  const values = output();
  const error = values.length === right.length ? right.reduce((most, value, i) => Math.max(most, Math.abs(value - values[i])), 0) / range : null;
  result[name] = { least: times[0], median: times[times.length >> 1], runs: times.length, error };
}
console.log(JSON.stringify(result));
engines.forEach((engine) => engine.close());
process.exit();
