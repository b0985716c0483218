// Calls an exported digit classifier in every way: node web_check.mjs FOLDER DIGITS
// DIGITS contains ten pictures of 784 floats, followed by ten rows of expected scores.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const { load, supports, levels, NetworkError } = await import(pathToFileURL(join(folder, "digits.js")));
const bytes = readFileSync(file);
const data = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const picture = (i) => data.subarray(784 * i, 784 * (i + 1));
const scores = (i) => data.subarray(7840 + 10 * i, 7840 + 10 * (i + 1));
const input = "Input3", output = "Plus214_Output_0";
const close = (found, i) => scores(i).forEach((score, k) => assert.ok(Math.abs(found[k] - score) <= 1e-3 * Math.abs(score) + 1e-3, `digit ${i}: ${found}`));
const fails = async (code, text, call) => {
  let error;
  try {
    await call();
  } catch (caught) {
    error = caught;
  }
  assert.ok(error instanceof NetworkError, `${text}: ${error}`);
  assert.equal(error.code, code);
  assert.match(error.message, text);
};
const before = new Set(Object.keys(globalThis));

for (const level of levels) {
  if (!levels.filter((each) => each === level).every(() => level === "wasm32" || supports(level.replace("wasm32+", "")))) continue;
  for (const threads of [1, 2]) {
    const net = await load({ level, threads });
    for (let i = 0; i < 10; ++i) close(net.run({ [input]: picture(i) })[output], i);
    // An input that is written to its view needs no copy; the output is a view that stays valid.
    net.inputs[input].set(picture(3));
    const y = net.run()[output];
    close(y, 3);
    net.run({ [input]: picture(4) });
    close(y, 4);
    assert.deepEqual(net.shape(input), [1, 1, 28, 28]);
    console.log(level, "threads", net.threads, "memory", net.memoryBytes);
    net.close();
  }
}

const progress = [];
const net = await load({ progress: (each) => progress.push(each) });
const many = await Promise.all([load(), load()]);
close(many[0].run({ [input]: picture(1) })[output], 1);
close(many[1].run({ [input]: picture(2) })[output], 2);
close(many[0].outputs[output], 1);

const first = net.runAsync({ [input]: picture(5) });
await fails("busy", /under way/, () => net.run({ [input]: picture(6) }));
await fails("busy", /under way/, () => net.runAsync({ [input]: picture(6) }));
close((await first)[output], 5);
close((await net.runAsync({ [input]: picture(6) }))[output], 6);

await fails("input", /Float64Array; it is a Float32Array/, () => net.run({ [input]: new Float64Array(784) }));
await fails("input", /is Array/, () => net.run({ [input]: [1, 2] }));
await fails("input", /has 3 elements; its shape is \[1, 1, 28, 28\], 784/, () => net.run({ [input]: new Float32Array(3) }));
await fails("input", /there is no input x; there are Input3/, () => net.run({ x: new Float32Array(784) }));
await fails("input", /takes an object/, () => net.run(null));
const gone = new Float32Array(784);
structuredClone(gone, { transfer: [gone.buffer] });
await fails("input", /detached/, () => net.run({ [input]: gone }));
await fails("input", /detached/, () => net.runAsync({ [input]: gone }));
await fails("unsupported", /there is no level avx/, () => load({ level: "avx" }));
const validate = WebAssembly.validate;
WebAssembly.validate = () => false;
await fails("unsupported", /lacks the WebAssembly feature (simd128|relaxed-simd)/, () => load({ level: levels.at(-1) }));
assert.equal((await load()).level, "wasm32");
WebAssembly.validate = validate;
await assert.rejects(load({ signal: AbortSignal.abort() }), { name: "AbortError" });
await fails("download", /cannot be read/, () => load({ base: "file:///nowhere/" }));
// Aborting a load does not affect another load of the same files.
const link = join(mkdtempSync(join(tmpdir(), "ingot-")), "link");
symlinkSync(resolve(folder), link);
const base = pathToFileURL(link) + "/";
const abort = new AbortController();
const aborted = load({ base, signal: abort.signal });
const other = load({ base });
abort.abort();
await assert.rejects(aborted, { name: "AbortError" });
close((await other).run({ [input]: picture(8) })[output], 8);
close((await load()).run({ [input]: picture(7) })[output], 7);
net.close();
assert.deepEqual(Object.keys(globalThis).filter((key) => !before.has(key)), []);
console.log("all right");
