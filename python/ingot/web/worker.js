// The worker of $name.js: runs a whole network (runAsync), or is one thread of a network.
//
// Generated file. SPDX-License-Identifier: MIT-0

const port = typeof self === "object" && typeof self.postMessage === "function" ? self : (await import("node:worker_threads")).parentPort;
const listen = (handler) => (port.on ? port.on("message", handler) : (port.onmessage = (event) => handler(event.data)));

let network;
async function answer(message) {
  if (message.kind === "thread") {
    const instance = await WebAssembly.instantiate(message.module, { env: { memory: message.memory } });
    port.postMessage({});
    instance.exports[message.work](message.stack);
    return;
  }
  if (message.kind === "network") {
    const { load } = await import("./$name.js");
    network = await load(message.options);
    port.postMessage({});
    return;
  }
  Object.assign(network.sizes, message.sizes);
  const outputs = {};
  for (const [name, view] of Object.entries(network.run(message.inputs))) outputs[name] = view.slice();
  port.postMessage({ outputs }, Object.values(outputs).map((array) => array.buffer));
}
listen((message) => answer(message).catch((error) => port.postMessage({ error: { code: error.code ?? "internal", message: error.message } })));
