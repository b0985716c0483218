"""Makes recordings: tones, chirps, noise, silence, pulses and mixtures of 0.1 to 40 seconds."""
import numpy as np

SECONDS = [0.1, 0.5, 1, 3, 7, 15, 29.9, 30, 31, 40]


def recordings(count):
    """Yields (name, samples) `count` times; samples are from -1 to 1 at 16 kHz."""
    rng = np.random.default_rng(7)
    for i in range(count):
        seconds = SECONDS[i % 10] * (0.8 + 0.2 * rng.random() if i >= 10 and i % 10 < 7 else 1)
        size = int(seconds * 16000)
        time = np.arange(size) / 16000
        frequency = rng.uniform(80, 4000)
        kind = ["tone", "chirp", "noise", "pulses", "mixture", "silence"][(i // 10 + i) % 6]
        if kind == "tone":
            samples = 0.8 * np.sin(2 * np.pi * frequency * time)
        elif kind == "chirp":
            samples = 0.7 * np.sin(2 * np.pi * (frequency + rng.uniform(20, 200) * time) * time)
        elif kind == "noise":
            samples = rng.uniform(-1, 1, size) * rng.uniform(0.001, 0.5)
        elif kind == "pulses":
            samples = 0.5 * np.sign(np.sin(np.pi * frequency / 4 * time)) * (np.sin(6 * np.pi * time) > 0)
        elif kind == "silence":
            samples = np.zeros(size)
        else:
            samples = rng.uniform(-0.003, 0.003, size)
            for _ in range(5):
                on = np.sin(2 * np.pi * rng.uniform(0.3, 4) * time + rng.uniform(0, 6)) > 0
                samples += rng.uniform(0.02, 0.18) * np.sin(2 * np.pi * rng.uniform(80, 6000) * time + rng.uniform(0, 6)) * on
        yield f"{i:03}-{kind}", samples
