// A network compiled by Ingot as an ES module, for browsers, Node.js and Deno:
//
//     import { load } from "./$name.js";
//     const net = await load();
//     const y = net.run({ x: new Float32Array(784) });
//
// $name.d.ts declares the types. The module needs no other package and defines no globals. A content security policy must
// allow `script-src 'self' 'wasm-unsafe-eval'` (and `worker-src 'self'` for runAsync and threads).
//
// Generated file. SPDX-License-Identifier: MIT-0

const NETWORK = $network;

const STATUS = {
  1: "a required pointer is null",
  2: "memory is misaligned",
  3: "an input differs from the value that was fixed at compile time",
  4: "the weights file does not belong to this network",
  5: "this machine supports none of the compiled targets",
  6: "a size is out of bounds or contradicts another one",
  8: "there is too little memory",
  10: "another run of this network is under way",
};

/** An error of a network; `code` is its kind. */
export class NetworkError extends Error {
  constructor(code, message, options) {
    super(`${NETWORK.name}: ${message}`, options);
    this.name = "NetworkError";
    this.code = code;
  }
}

// For each feature, a module with one of its instructions: an engine without the feature rejects the module.
const PROBES = {
  "simd128": [1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
  "relaxed-simd": [1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15, 253, 128, 2, 11],
};

/** Whether this engine has a feature: "simd128" or "relaxed-simd". */
export function supports(feature) {
  const probe = PROBES[feature];
  return typeof WebAssembly === "object" && WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, ...(probe ?? [])]));
}

/** Whether threads can share memory here: browsers allow it on cross-origin isolated pages only. */
export function canShareMemory() {
  return typeof SharedArrayBuffer === "function" && globalThis.crossOriginIsolated !== false;
}

const isNode = typeof process === "object" && !!process.versions?.node && typeof globalThis.window === "undefined" && typeof globalThis.Deno === "undefined";

const TYPES = {
  float32: [Float32Array], float64: [Float64Array], int8: [Int8Array], uint8: [Uint8Array, Uint8ClampedArray], int16: [Int16Array],
  uint16: [Uint16Array], int32: [Int32Array], uint32: [Uint32Array], int64: [BigInt64Array], uint64: [BigUint64Array], bool: [Uint8Array],
  float16: typeof Float16Array === "function" ? [Float16Array, Uint16Array] : [Uint16Array],
};
const typesOf = (tensor) => TYPES[tensor.type] ?? [tensor.type === "bfloat16" ? Uint16Array : Uint8Array];

// ------------------------------------------------------------------ files

/** Downloads a file from the folder of this module; calls `progress` while it is downloaded. */
async function read(file, { signal, progress, cache, base }) {
  const url = new URL(file, base ?? import.meta.url);
  signal?.throwIfAborted();
  if (isNode && url.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    const data = await readFile(url, { signal }).catch((cause) => {
      signal?.throwIfAborted();
      throw new NetworkError("download", `${file} cannot be read: ${cause.message}`, { cause });
    });
    progress?.({ file, loaded: data.byteLength, total: data.byteLength });
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  // Pages outside of a secure context have no cache. Errors of the cache, such as a full one, are ignored.
  const store = cache !== false && typeof caches === "object" ? await caches.open("ingot-networks").catch(() => undefined) : undefined;
  const key = `${url}?${NETWORK.version}`;
  const known = await store?.match(key).catch(() => undefined);
  const response = known ?? (await fetch(url, { signal }).catch((cause) => {
    signal?.throwIfAborted();
    throw new NetworkError("download", `${file} cannot be fetched: ${cause.message}`, { cause });
  }));
  if (!response.ok) throw new NetworkError("download", `${file} cannot be fetched: status ${response.status}`);
  const total = NETWORK.files[file] ?? 0;
  const data = new Uint8Array(total);
  let loaded = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    if (loaded + value.length > total) throw new NetworkError("download", `${file} is longer than the ${total} bytes of this network; export it again`);
    data.set(value, loaded);
    loaded += value.length;
    progress?.({ file, loaded, total });
  }
  if (loaded !== total) throw new NetworkError("download", `${file} ended after ${loaded} of ${total} bytes; load it again`);
  if (!known) await store?.put(key, new Response(data)).catch(() => undefined);
  return data;
}

/** Returns the requested level or, without a request, the best one that the engine supports. */
function chooseLevel(wanted) {
  const missing = (level) => level.features.find((feature) => !supports(feature));
  if (typeof WebAssembly !== "object") throw new NetworkError("unsupported", "this browser has no WebAssembly");
  if (wanted !== undefined) {
    const level = NETWORK.levels.find(({ target }) => target === wanted);
    if (!level) throw new NetworkError("unsupported", `there is no level ${wanted}; there are ${NETWORK.levels.map(({ target }) => target).join(", ")}`);
    if (missing(level)) throw new NetworkError("unsupported", `this engine lacks the WebAssembly feature ${missing(level)}`);
    return level;
  }
  const level = NETWORK.levels.findLast((each) => !missing(each));
  if (!level) throw new NetworkError("unsupported", `this engine lacks the WebAssembly feature ${missing(NETWORK.levels[0])}, and there is no level without it`);
  return level;
}

// Concurrent loads share downloads and compiled modules. If the load that started a download is
// aborted, one of the others starts the download again.
const modules = new Map();
async function compileOnce(file, options) {
  const key = String(new URL(file, options.base ?? import.meta.url));
  for (;;) {
    options.signal?.throwIfAborted();
    const known = modules.get(key);
    const module = known ?? read(file, options).then((bytes) => WebAssembly.compile(bytes));
    if (!known) {
      modules.set(key, module);
      module.catch(() => modules.delete(key));
    }
    try {
      return await module;
    } catch (error) {
      if (!known || error instanceof NetworkError) throw error;
    }
  }
}

// ---------------------------------------------------------------- threads

/** Starts the worker script of this folder and sends it the message `first`; resolves when the worker has answered. */
async function startWorker(first) {
  const url = new URL(NETWORK.worker, import.meta.url);
  let worker;
  if (typeof Worker === "function") {
    worker = new Worker(url, { type: "module" });
  } else {
    const threads = await import("node:worker_threads");
    worker = new threads.Worker(url);
    worker.unref();
  }
  const handlers = { message: undefined, error: undefined };
  const message = (data) => handlers.message?.(data);
  const error = (event) => handlers.error?.(new NetworkError("worker", `the worker failed: ${event?.message ?? "it could not be started"}`));
  if (worker.on) {
    worker.on("message", message);
    worker.on("error", error);
  } else {
    worker.onmessage = (event) => message(event.data);
    worker.onerror = error;
    worker.onmessageerror = error;
  }
  const ask = (data, transfer) => new Promise((resolve, reject) => {
    handlers.message = resolve;
    handlers.error = reject;
    worker.postMessage(data, transfer ?? []);
  });
  const answer = await ask(first);
  if (answer.error) {
    worker.terminate();
    throw new NetworkError(answer.error.code, answer.error.message);
  }
  return { ask, terminate: () => worker.terminate() };
}

// ---------------------------------------------------------------- network

const ALIGN = 64, PAGE = 65536;
const aligned = (bytes) => Math.ceil(bytes / ALIGN) * ALIGN;

class Network {
  #memory; #exports; #io; #layout; #state; #weights; #context = 0; #workers = []; #async; #busy = false; #broken; #base; #views; #outer;
  #sizes = {}; #end = 0;

  constructor(level, instance, memory, parts) {
    this.level = level.target;
    this.threads = parts.threads;
    this.#memory = memory;
    this.#exports = instance.exports;
    this.#base = parts.base;
    this.#outer = parts.options;
    for (const size of NETWORK.sizes) {
      if (size.made) continue;
      this.#sizes[size.name] = size.least;
    }
    const self = this;
    const sizes = {};
    for (const size of NETWORK.sizes)
      Object.defineProperty(sizes, size.name, {
        enumerable: true,
        get: () => (size.made ? self.#made(size) : self.#sizes[size.name]),
        set: (value) => self.#setSize(size, value),
      });
    /** The dynamic sizes of the network. */
    this.sizes = Object.freeze(sizes);
    const group = (output) => {
      const views = {};
      for (const tensor of NETWORK.tensors)
        if (tensor.output === output) Object.defineProperty(views, tensor.name, { enumerable: true, get: () => self.#view(tensor) });
      return Object.freeze(views);
    };
    this.inputs = group(false);
    this.outputs = group(true);
  }

  /** Creates a network: lays out weights, state and tensors in memory after the module's own data. */
  static async open(level, options) {
    const threads = Math.max(1, Math.min(options.threads ?? 1, 64) | 0);
    const isShared = threads > 1 && level.threaded !== undefined && canShareMemory();
    const file = isShared ? level.threaded.file : level.file;
    const module = await compileOnce(file, options);
    let memory;
    if (isShared) {
      const most = Math.min(65536, Math.ceil((level.threaded.pages * PAGE + NETWORK.mostBytes + threads * aligned(level.stack)) / PAGE) + 1);
      memory = new WebAssembly.Memory({ initial: level.threaded.pages, maximum: most, shared: true });
    }
    const instance = await WebAssembly.instantiate(module, isShared ? { env: { memory } } : {});
    memory ??= instance.exports.memory;
    const heap = aligned(instance.exports[`${NETWORK.name}_heap`]() >>> 0);
    const network = new Network(level, instance, memory, { threads: isShared ? threads : 1, base: heap, options });
    await network.#place(options);
    if (isShared) await network.#startThreads(module, level);
    return network;
  }

  async #place(options) {
    const io = this.#base;
    let end = io + aligned(NETWORK.ioBytes);
    this.#io = io;
    const take = (bytes) => {
      const at = end;
      end = aligned(end + bytes);
      return at;
    };
    if (NETWORK.stateBytes) this.#state = take(NETWORK.stateBytes);
    if (NETWORK.weights) {
      const data = await read(NETWORK.weights, options);
      this.#weights = take(data.length);
      this.#grow(end);
      new Uint8Array(this.#memory.buffer, this.#weights, data.length).set(data);
    }
    if (this.threads > 1) {
      this.#context = take(64);
      for (let i = 1; i < this.threads; ++i) {
        take(NETWORK.levels.find(({ target }) => target === this.level).stack);
        this.#workers.push({ stack: end });
      }
    }
    this.#end = end;
    this.#arrange();
    this.reset();
  }

  async #startThreads(module, level) {
    await Promise.all(this.#workers.map(async (worker, i) => {
      this.#workers[i] = await startWorker({ kind: "thread", module, memory: this.#memory, work: `${NETWORK.name}_work`, stack: worker.stack });
    }));
    new Int32Array(this.#memory.buffer, this.#context, 1)[0] = this.threads;
    this.#context = this.#exports[`${NETWORK.name}_threads`](this.#context);
  }

  #grow(end) {
    const missing = end - this.#memory.buffer.byteLength;
    if (missing <= 0) return;
    try {
      this.#memory.grow(Math.ceil(missing / PAGE));
    } catch (cause) {
      throw new NetworkError("capacity", `there is too little memory: ${end} bytes are needed`, { cause });
    }
    this.#views = undefined;
  }

  /** Computes shapes and addresses for the sizes of the next run. */
  #arrange() {
    let end = this.#end;
    const layout = new Map();
    const place = (bytes) => {
      const at = end;
      end = aligned(end + bytes);
      return at;
    };
    const values = { ...this.#sizes };
    for (const size of NETWORK.sizes) if (size.made) values[size.name] = size.most;
    for (const tensor of NETWORK.tensors) {
      const shape = tensor.shape(values);
      const elements = shape.reduce((a, b) => a * b, 1);
      layout.set(tensor.name, { shape, elements, at: place(elements * typesOf(tensor)[0].BYTES_PER_ELEMENT) });
    }
    for (const size of NETWORK.sizes) if (size.made) layout.set(size, { at: place(4) });
    if (end > 2 ** 32) throw new NetworkError("capacity", `the tensors need ${end} bytes, more than the 4 GB that WebAssembly can address`);
    this.#grow(end);
    this.#layout = layout;
    this.#views = undefined;
    const io = new DataView(this.#memory.buffer, this.#io, NETWORK.ioBytes);
    let at = 0;
    const word = (value) => {
      io.setUint32(at, value, true);
      at += 4;
    };
    for (const size of NETWORK.sizes) word(size.made ? layout.get(size).at : this.#sizes[size.name]);
    for (const tensor of NETWORK.tensors) word(layout.get(tensor.name).at);
    if (NETWORK.stateBytes) word(this.#state);
    if (NETWORK.weights) word(this.#weights);
  }

  #made(size) {
    const place = this.#layout.get(size);
    return new DataView(this.#memory.buffer).getInt32(place.at, true);
  }

  #setSize(size, value) {
    if (size.made) throw new NetworkError("shape", `the size ${size.name} is made by the run`);
    if (this.#busy) throw this.#error(10);
    if (!Number.isInteger(value) || value < size.least || value > size.most)
      throw new NetworkError("shape", `the size ${size.name} is ${value}; it is a whole number from ${size.least} to ${size.most}`);
    if (value === this.#sizes[size.name]) return;
    const before = this.#sizes[size.name];
    this.#sizes[size.name] = value;
    try {
      this.#arrange();
    } catch (error) {
      this.#sizes[size.name] = before;
      throw error;
    }
  }

  #view(tensor) {
    this.#views ??= new Map();
    let view = this.#views.get(tensor.name);
    if (!view) {
      const { at, elements } = this.#layout.get(tensor.name);
      view = new (typesOf(tensor)[0])(this.#memory.buffer, at, elements);
      this.#views.set(tensor.name, view);
    }
    if (!tensor.output || !tensor.made) return view;
    // After a run that computed a data-dependent size, only the first elements are valid.
    const values = { ...this.#sizes };
    for (const size of NETWORK.sizes) if (size.made) values[size.name] = this.#made(size);
    return view.subarray(0, tensor.shape(values).reduce((a, b) => a * b, 1));
  }

  /** Returns the shape of a tensor at the current sizes. */
  shape(name) {
    const tensor = NETWORK.tensors.find((each) => each.name === name);
    if (!tensor) throw new NetworkError("input", `there is no tensor ${name}`);
    const values = { ...this.#sizes };
    for (const size of NETWORK.sizes) if (size.made) values[size.name] = tensor.output ? this.#made(size) : size.most;
    return tensor.shape(values);
  }

  #error(status) {
    return new NetworkError({ 3: "specialized", 4: "weights", 6: "shape", 8: "capacity", 10: "busy" }[status] ?? "internal", STATUS[status] ?? `status ${status}`);
  }

  /** Checks inputs and copies them into the module's memory, except arrays that are already views of it. */
  #take(inputs) {
    if (inputs === null || typeof inputs !== "object") throw new NetworkError("input", "run takes an object of typed arrays by the names of the inputs");
    for (const name of Object.keys(inputs)) {
      const tensor = NETWORK.tensors.find((each) => each.name === name && !each.output);
      if (!tensor) {
        const names = NETWORK.tensors.filter((each) => !each.output).map((each) => each.name);
        throw new NetworkError("input", `there is no input ${name}; there are ${names.join(", ")}`);
      }
      const array = inputs[name], types = typesOf(tensor);
      if (!types.some((type) => array instanceof type) && !types.some((type) => Object.prototype.toString.call(array) === `[object ${type.name}]`))
        throw new NetworkError("input", `the input ${name} is ${array?.constructor?.name ?? typeof array}; it is a ${types.map((type) => type.name).join(" or ")}`);
      const { elements, shape } = this.#layout.get(name);
      if (array.length === 0 && elements > 0 && (array.buffer.detached ?? array.buffer.byteLength === 0))
        throw new NetworkError("input", `the buffer of the input ${name} is detached: it was transferred, or the memory of the network has grown`);
      if (array.length !== elements) throw new NetworkError("input", `the input ${name} has ${array.length} elements; its shape is [${shape.join(", ")}], ${elements} elements`);
    }
    for (const [name, array] of Object.entries(inputs)) {
      const view = this.#view(NETWORK.tensors.find((each) => each.name === name));
      if (array.buffer === view.buffer && array.byteOffset === view.byteOffset) continue;
      if (array.constructor === Uint16Array && view.constructor !== Uint16Array) new Uint16Array(view.buffer, view.byteOffset, view.length).set(array);
      else view.set(array);
    }
  }

  /** Runs the network; returns views of its outputs, which the next run overwrites. Inputs that are not given keep their values. */
  run(inputs = {}) {
    if (this.#broken) throw this.#broken;
    if (this.#busy) throw this.#error(10);
    this.#take(inputs);
    this.#busy = true;
    let status;
    try {
      const exports = this.#exports;
      status = exports[`${NETWORK.name}_run`](this.#io, exports[`${NETWORK.name}_arena`](), this.#context);
    } catch (cause) {
      this.#broken = new NetworkError("internal", `the module failed: ${cause.message}; load the network again`, { cause });
      throw this.#broken;
    } finally {
      this.#busy = false;
    }
    if (status !== 0) throw this.#error(status);
    const outputs = {};
    for (const tensor of NETWORK.tensors) if (tensor.output) outputs[tensor.name] = this.#view(tensor);
    return outputs;
  }

  /** Runs a separate copy of the network in a worker; resolves to copies of the outputs. */
  async runAsync(inputs = {}) {
    if (this.#broken) throw this.#broken;
    if (this.#busy) throw this.#error(10);
    this.#take(inputs);
    this.#busy = true;
    try {
      const { level, threads, cache } = { ...this.#outer, level: this.level, threads: this.#outer.threads };
      this.#async ??= await startWorker({ kind: "network", module: new URL(import.meta.url).href, options: { level, threads, cache } });
      const copies = {};
      for (const tensor of NETWORK.tensors) if (!tensor.output) copies[tensor.name] = this.#view(tensor).slice();
      const transfer = Object.values(copies).map((array) => array.buffer);
      const answer = await this.#async.ask({ kind: "run", inputs: copies, sizes: { ...this.#sizes } }, transfer);
      if (answer.error) throw new NetworkError(answer.error.code, answer.error.message);
      return answer.outputs;
    } catch (error) {
      if (error.code === "worker") this.#async = undefined;
      throw error;
    } finally {
      this.#busy = false;
    }
  }

  /** Sets the state of the network to zeros, as before its first run. */
  reset() {
    if (NETWORK.stateBytes) new Uint8Array(this.#memory.buffer, this.#state, NETWORK.stateBytes).fill(0);
  }

  /** The size of the module's memory in bytes. */
  get memoryBytes() {
    return this.#memory.buffer.byteLength;
  }

  /** Ends the workers. */
  close() {
    for (const worker of this.#workers) worker.terminate?.();
    this.#async?.terminate();
    this.#workers = [];
    this.#async = undefined;
    if (this.threads > 1) this.#broken = new NetworkError("closed", "the network is closed");
  }
}

/** Loads the network: its module, and its weights if they are a file. */
export async function load(options = {}) {
  return Network.open(chooseLevel(options.level), options);
}

/** The levels of this export, least capable first. */
export const levels = Object.freeze(NETWORK.levels.map(({ target }) => target));

export default load;
