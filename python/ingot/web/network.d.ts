// The types of $name.js. Generated file. SPDX-License-Identifier: MIT-0

/** The inputs of a run; those that are not given keep their values. */
export interface Inputs {
$inputs
}

/** The outputs of a run. */
export interface Outputs {
$outputs
}

/** The dynamic sizes of the network. Setting one moves the tensors: views that were read before become invalid. */
export interface Sizes {
$sizes
}

export type Level = $levels;

/** The kind of an error: `input` and `shape` are mistakes of the caller; `unsupported`: the engine lacks a feature. */
export type ErrorCode =
  | "busy" | "capacity" | "closed" | "download" | "input" | "internal" | "shape" | "specialized" | "unsupported" | "weights" | "worker";

export class NetworkError extends Error {
  readonly code: ErrorCode;
}

export interface Progress {
  file: string;
  loaded: number;
  total: number;
}

export interface LoadOptions {
  /** The level of instructions [default: the best that the engine supports]. */
  level?: Level;
  /** The number of threads [default: 1]; always 1 unless the export has threads and the page is cross-origin isolated. */
  threads?: number;
  /** Aborts the download; `load` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with the progress of the download. */
  progress?: (progress: Progress) => void;
  /** Whether to keep files in the cache of the page [default: true]. */
  cache?: boolean;
  /** The address of the files [default: that of this module]. */
  base?: string | URL;
}

export interface Network {
  readonly level: Level;
  readonly threads: number;
  /** Views of the module's memory: inputs that are written here need no copy. */
  readonly inputs: Required<Inputs>;
  /** Views of the outputs of the last run. */
  readonly outputs: Outputs;
  readonly sizes: Sizes;
  readonly memoryBytes: number;
  shape(name: string): number[];
  /** Runs the network; returns views of its outputs, which the next run overwrites. */
  run(inputs?: Inputs): Outputs;
  /** Runs a copy of the network in a worker; resolves to copies of the outputs. */
  runAsync(inputs?: Inputs): Promise<Outputs>;
  /** Sets the state of the network to zeros, as before its first run. */
  reset(): void;
  /** Ends the workers. */
  close(): void;
}

export function load(options?: LoadOptions): Promise<Network>;
export default load;
/** Whether this engine has a feature of WebAssembly: "simd128" or "relaxed-simd". */
export function supports(feature: string): boolean;
/** Whether threads can share memory here. */
export function canShareMemory(): boolean;
export const levels: readonly Level[];
