// Prints what a module imports and exports, and whether its memory has the size that the header states.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const [file, header] = process.argv.slice(2);
const name = basename(file, ".wasm");
const module = new WebAssembly.Module(readFileSync(file));
console.log("imports", WebAssembly.Module.imports(module).length);
const exported = WebAssembly.Module.exports(module).map((each) => each.name.replace(name, ""));
console.log("exports", exported.sort().join(" "));
const { exports } = new WebAssembly.Instance(module);
const text = readFileSync(header, "utf8");
const stated = ["WEIGHTS", "ARENA", "STACK"].map((word) => Number(new RegExp(`_${word}_BYTES (\\d+)u`).exec(text)[1])).reduce((a, b) => a + b);
// The heap may start up to 4095 bytes after the stated size, since constants and the arena (the
// working memory) are aligned.
const heap = exports[`${name}_heap`]();
const isStated = heap >= stated && heap < stated + 4096 && exports.memory.buffer.byteLength === Math.ceil(heap / 65536) * 65536;
console.log("memory", isStated ? "as stated" : `${exports.memory.buffer.byteLength} with the heap at ${heap}, stated ${stated}`);
console.log("run without tensors", exports[`${name}_run`](heap, exports[`${name}_arena`](), 0));
