import { show, softmax, timed } from "./bars.js";
import { labels } from "./labels.js";
import { load } from "./net/photos.js";

const SIZE = 244, MEAN = [0.485, 0.456, 0.406], DEVIATION = [0.229, 0.224, 0.225];
const view = document.getElementById("view"), status = document.getElementById("status"), bars = document.getElementById("bars"), drop = document.getElementById("drop");
const context = view.getContext("2d", { willReadFrequently: true });
let net, ready;

function fail(error) {
  status.textContent = error.message;
  status.classList.add("error");
}

async function look(source) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(source);
  } catch {
    return fail(new Error("This file is not a picture that the browser can read."));
  }
  status.classList.remove("error");
  // Takes the largest square in the middle of the picture.
  const side = Math.min(bitmap.width, bitmap.height);
  context.drawImage(bitmap, (bitmap.width - side) / 2, (bitmap.height - side) / 2, side, side, 0, 0, SIZE, SIZE);
  const pixels = context.getImageData(0, 0, SIZE, SIZE).data, input = net.inputs.image;
  for (let channel = 0; channel < 3; ++channel)
    for (let i = 0; i < SIZE * SIZE; ++i) input[channel * SIZE * SIZE + i] = (pixels[4 * i + channel] / 255 - MEAN[channel]) / DEVIATION[channel];
  const shares = softmax(net.run().scores);
  const best = shares.map((share, i) => [labels[i], share]).sort((a, b) => b[1] - a[1]).slice(0, 5);
  show(bars, best);
  status.textContent = `${ready}, ${timed(() => net.run(), 9).toFixed(1)} ms per run`;
}

document.getElementById("file").addEventListener("change", (event) => event.target.files[0] && look(event.target.files[0]));
for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
document.addEventListener("drop", (event) => event.dataTransfer.files[0] && look(event.dataTransfer.files[0]));
document.addEventListener("paste", (event) => event.clipboardData.files[0] && look(event.clipboardData.files[0]));

const begin = performance.now();
try {
  net = await load({ progress: ({ loaded, total }) => (status.textContent = `Loading ... ${((100 * loaded) / total).toFixed(0)} %`) });
  ready = `${net.level}, ready in ${(performance.now() - begin).toFixed(0)} ms`;
  await look(await (await fetch("sample.png")).blob());
} catch (error) {
  fail(error);
}
