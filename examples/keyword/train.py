"""Trains the network of this example on words of speech.py, and writes network.onnx.

usage: train.py    (packages torch, numpy and onnx; about five minutes on one core)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import models
import speech

CLASSES = ["none", *speech.WORDS]


def sample(rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Returns the features of a random window and its class: "none" also for a word that the window cuts off."""
    label = int(rng.integers(0, len(CLASSES) + 1)) % len(CLASSES)
    window = np.zeros(models.SAMPLES)
    if label:
        word = speech.speak(rng, CLASSES[label])
        isCut = rng.random() < 0.3
        if isCut:
            hidden = int(rng.uniform(0.5, 0.95) * len(word))
            start = -hidden if rng.random() < 0.5 else models.SAMPLES - len(word) + hidden
            label = 0
        else:
            start = int(rng.integers(0, max(1, models.SAMPLES - len(word))))
        begin, end = max(0, start), min(models.SAMPLES, start + len(word))
        window[begin:end] = word[begin - start : end - start]
    window += speech.noise(rng, models.SAMPLES) * 10 ** (rng.uniform(-30, -3) / 20)
    loud = window * 3000 * 10 ** rng.uniform(-0.6, 0.4)
    return models.features(np.clip(loud, -32768, 32767).astype(np.int16)), label


def samples(seed: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    pairs = [sample(rng) for _ in range(count)]
    return torch.from_numpy(np.stack([x for x, _ in pairs])[:, None]), torch.tensor([y for _, y in pairs])


class Network(nn.Module):
    """The network of models.network() without Softmax, with batch normalization, which folded() folds into the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.convs, self.norms = nn.ModuleList(), nn.ModuleList()
        channels = 1
        for layer in models.LAYERS:
            groups = channels if layer.depthwise else 1
            self.convs.append(nn.Conv2d(channels, layer.channels, layer.kernel, (1, layer.stride), (0, layer.pad), groups=groups, bias=False))
            self.norms.append(nn.BatchNorm2d(layer.channels))
            channels = layer.channels
        self.last = nn.Linear(channels, len(CLASSES))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x)))
        return self.last(x.mean((2, 3)))

    def folded(self) -> list[tuple[np.ndarray, np.ndarray]]:
        weights = []
        with torch.no_grad():
            for conv, norm in zip(self.convs, self.norms):
                scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
                weights.append(((conv.weight * scale[:, None, None, None]).numpy(), (norm.bias - norm.running_mean * scale).numpy()))
            weights.append((self.last.weight.numpy(), self.last.bias.numpy()))
        return weights


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x, y = samples(1, 6000)
    tx, ty = samples(2, 1500)
    net = Network()
    epochs, batch = 6, 60
    optimizer = torch.optim.AdamW(net.parameters(), 6e-3, weight_decay=2e-2)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, epochs=epochs, steps_per_epoch=len(x) // batch)
    for epoch in range(epochs):
        net.train()
        for rows in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x[rows]), y[rows], label_smoothing=0.05)
            loss.backward()
            optimizer.step()
            plan.step()
        net.eval()
        with torch.no_grad():
            right = (net(tx).argmax(1) == ty).float().mean()
        print(f"epoch {epoch + 1}: loss {float(loss.detach()):.3f}, {float(right):.2%} of 1500 test windows", flush=True)
    models.save(models.network(net.folded(), CLASSES), Path(__file__).parent / "network.onnx")


if __name__ == "__main__":
    main()
