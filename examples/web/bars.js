// Shows a list of names, each with a bar for its share.

/** Fills `list` with rows [name, share], and marks the largest. */
export function show(list, rows) {
  const best = Math.max(...rows.map(([, share]) => share));
  while (list.children.length > rows.length) list.lastChild.remove();
  rows.forEach(([name, share], i) => {
    let item = list.children[i];
    if (!item) {
      item = document.createElement("li");
      item.append(document.createElement("progress"), document.createElement("span"), document.createElement("span"));
      list.append(item);
    }
    const [bar, label, number] = item.children;
    bar.value = share;
    bar.setAttribute("aria-label", name);
    label.textContent = name;
    number.textContent = `${(100 * share).toFixed(1)} %`;
    item.classList.toggle("best", share === best && share > 0);
  });
}

export function softmax(scores) {
  const most = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

/** Milliseconds of a run: the mean of several, since clocks of browsers are coarse. */
export function timed(run, count = 15) {
  const begin = performance.now();
  for (let i = 0; i < count; ++i) run();
  return (performance.now() - begin) / count;
}
