// Collects the sound of the microphone in chunks of 512 samples.
registerProcessor("chunks", class extends AudioWorkletProcessor {
  #part = new Float32Array(512);
  #filled = 0;
  process([[channel]]) {
    for (const sample of channel ?? []) {
      this.#part[this.#filled++] = sample;
      if (this.#filled < this.#part.length) continue;
      this.port.postMessage(this.#part.slice());
      this.#filled = 0;
    }
    return true;
  }
});
