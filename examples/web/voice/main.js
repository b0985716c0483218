import { show } from "./bars.js";
import { load } from "./net/voice.js";

const RATE = 16000, BEFORE = 64, STEP = 512;
const status = document.getElementById("status"), bars = document.getElementById("bars"), button = document.getElementById("listen");
const graph = document.getElementById("graph"), context = graph.getContext("2d");
const history = new Array(160).fill(0);
let net, ready, audio, spent = 0, runs = 0;

function fail(error) {
  status.textContent = error.message;
  status.classList.add("error");
}

/** Runs the network on 512 samples and the 64 samples before them; its state is kept from run to run. */
function hear(samples) {
  const { input, state, sr } = net.inputs;
  input.copyWithin(0, STEP);
  input.set(samples, BEFORE);
  sr[0] = BigInt(RATE);
  const begin = performance.now();
  const { output, stateN } = net.run();
  spent += performance.now() - begin;
  runs += 1;
  state.set(stateN);
  const speech = output[0], level = Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
  history.shift();
  history.push(speech);
  show(bars, [["speech", speech], ["loudness", Math.min(1, level * 5)]]);
  paint();
  status.textContent = `${ready}, ${((1000 * spent) / runs).toFixed(0)} µs per run`;
}

function paint() {
  const style = getComputedStyle(document.documentElement), width = graph.width / history.length;
  context.clearRect(0, 0, graph.width, graph.height);
  context.fillStyle = style.getPropertyValue("--accent");
  history.forEach((share, i) => context.fillRect(i * width, graph.height - Math.max(2, share * graph.height), width - 1, graph.height));
}

async function listen() {
  button.disabled = true;
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
    audio = new AudioContext({ sampleRate: RATE });
    await audio.audioWorklet.addModule("chunks.js");
    const chunks = new AudioWorkletNode(audio, "chunks", { numberOfOutputs: 0 });
    chunks.port.onmessage = ({ data }) => hear(data);
    audio.createMediaStreamSource(stream).connect(chunks);
    button.textContent = "Listening";
  } catch (error) {
    button.disabled = false;
    fail(new Error(`The microphone cannot be used: ${error.message}`));
  }
}

const begin = performance.now();
try {
  net = await load({ progress: ({ loaded, total }) => (status.textContent = `Loading ... ${((100 * loaded) / total).toFixed(0)} %`) });
  ready = `${net.level}, ready in ${(performance.now() - begin).toFixed(0)} ms`;
  status.textContent = ready;
  show(bars, [["speech", 0], ["loudness", 0]]);
  paint();
  button.disabled = false;
  button.addEventListener("click", listen);
} catch (error) {
  fail(error);
}
