import { show, softmax, timed } from "./bars.js";
import { load } from "./net/digits.js";

const pad = document.getElementById("pad"), status = document.getElementById("status"), bars = document.getElementById("bars");
const context = pad.getContext("2d", { willReadFrequently: true });
const small = new OffscreenCanvas(28, 28).getContext("2d", { willReadFrequently: true });
let net, time, last, cursor = { x: 140, y: 140 };

function clear() {
  context.fillStyle = "#101316";
  context.fillRect(0, 0, 280, 280);
  read();
}

/** Converts the drawing to a picture like those of the training data: the digit fills 20 of 28 pixels, with its centre of mass in the middle. */
function picture() {
  const pixels = context.getImageData(0, 0, 280, 280).data;
  let left = 280, right = -1, top = 280, bottom = -1, mass = 0, x = 0, y = 0;
  for (let i = 0; i < 280 * 280; ++i) {
    const ink = pixels[4 * i] - 16;
    if (ink < 40) continue;
    const column = i % 280, row = (i / 280) | 0;
    left = Math.min(left, column), right = Math.max(right, column), top = Math.min(top, row), bottom = Math.max(bottom, row);
    mass += ink, x += ink * column, y += ink * row;
  }
  if (mass === 0) return false;
  const scale = 20 / Math.max(right - left + 1, bottom - top + 1, 60);
  small.fillStyle = "#101316";
  small.fillRect(0, 0, 28, 28);
  small.imageSmoothingQuality = "high";
  small.drawImage(pad, 14 - (x / mass) * scale, 14 - (y / mass) * scale, 280 * scale, 280 * scale);
  const reduced = small.getImageData(0, 0, 28, 28).data;
  for (let i = 0; i < 784; ++i) net.inputs.Input3[i] = Math.max(0, reduced[4 * i] - 16) * (255 / 239);
  return true;
}

function read() {
  if (!net) return;
  // The scores of this network are in the thousands; after division by 800, a clear digit gets a share of nearly 1.
  const shares = picture() ? softmax(net.run().Plus214_Output_0.map((score) => score / 800)) : new Array(10).fill(0);
  show(bars, shares.map((share, digit) => [String(digit), share]));
}

function draw(from, to) {
  context.strokeStyle = "#ffffff";
  context.lineWidth = 22;
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
  read();
}

const place = (event) => {
  const box = pad.getBoundingClientRect();
  return { x: ((event.clientX - box.left) * 280) / box.width, y: ((event.clientY - box.top) * 280) / box.height };
};
pad.addEventListener("pointerdown", (event) => {
  pad.setPointerCapture(event.pointerId);
  last = place(event);
  draw(last, last);
});
pad.addEventListener("pointermove", (event) => {
  if (!last) return;
  const to = place(event);
  draw(last, to);
  last = to;
});
for (const end of ["pointerup", "pointercancel"]) pad.addEventListener(end, () => (last = undefined));
pad.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12], " ": [0, 0] }[event.key];
  if (!step) return;
  event.preventDefault();
  const to = { x: Math.min(270, Math.max(10, cursor.x + step[0])), y: Math.min(270, Math.max(10, cursor.y + step[1])) };
  if (!event.shiftKey) draw(cursor, to);
  cursor = to;
});
document.getElementById("clear").addEventListener("click", clear);

const begin = performance.now();
try {
  net = await load();
  const loaded = performance.now() - begin;
  clear();
  time = timed(() => net.run(), 400);
  status.textContent = `${net.level}, ready in ${loaded.toFixed(0)} ms, ${(1000 * time).toFixed(0)} µs per run, ${net.memoryBytes / 1024} KB of memory`;
} catch (error) {
  status.textContent = error.message;
  status.classList.add("error");
}
