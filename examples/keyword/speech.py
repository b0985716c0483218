"""Speaks made-up words with a simple synthesizer of vowels, hisses and hums, and writes them as a WAV file.

usage: speech.py OUT.wav [--seed N] [--noise DB] WORD...    (16 kHz, mono, 16 bits; the words are those of WORDS)
"""

from __future__ import annotations

import argparse
import wave

import numpy as np

RATE = 16000
# Formants of vowels and hums in Hz; lower and upper edge of hisses in Hz.
SOUNDS = {
    "a": (730, 1090, 2440), "i": (270, 2290, 3010), "u": (300, 870, 2240), "e": (530, 1840, 2480), "o": (570, 840, 2410),
    "m": (250, 1000, 2200), "s": (4000, 6500), "S": (2000, 4000),
}  # fmt: skip
WORDS = {"ai": "ai", "us": "us", "mo": "mo", "sa": "sa", "she": "Se", "uma": "uma"}


def speak(rng: np.random.Generator, word: str) -> np.ndarray:
    """Returns the samples of one word in a random voice, with a root mean square of 1."""
    voice, pitch = rng.uniform(0.85, 1.2), rng.uniform(90, 240)
    sounds = WORDS[word]
    length = int(rng.uniform(0.4, 0.7) * RATE)
    parts = rng.uniform(0.7, 1.3, len(sounds))
    edges = np.concatenate([[0], np.cumsum(parts / parts.sum())]) * length
    t = np.arange(length)
    glide = 1 + rng.normal(0, 0.06) * np.linspace(-1, 1, length) + 0.01 * np.sin(2 * np.pi * 5 * t / RATE)
    phase = 2 * np.pi * np.cumsum(pitch * glide) / RATE
    samples = np.zeros(length)
    fade = 0.03 * RATE / 4
    for k, sound in enumerate(sounds):
        gate = 1 / (1 + np.exp(np.clip((edges[k] - t) / fade, -60, 60))) / (1 + np.exp(np.clip((t - edges[k + 1]) / fade, -60, 60)))
        bands = np.array(SOUNDS[sound]) * voice * rng.normal(1, 0.06, len(SOUNDS[sound]))
        if len(bands) == 3:
            harmonics = np.arange(1, int(3800 / pitch) + 1)
            gains = sum(g / (1 + ((harmonics * pitch - b) / (60 + 0.06 * b)) ** 2) for b, g in zip(bands, (1, 0.6, 0.3)))
            samples += (0.4 if sound == "m" else 1.0) * gate * (np.sin(phase[:, None] * harmonics) @ (gains + 0.01))
        else:
            spectrum = np.fft.rfft(rng.normal(0, 1, length))
            frequency = np.fft.rfftfreq(length, 1 / RATE)
            spectrum *= (frequency > bands[0]) & (frequency < bands[1])
            samples += 1.2 * gate * np.fft.irfft(spectrum, length)
    return samples / (np.sqrt(np.mean(samples**2)) + 1e-9)


def noise(rng: np.random.Generator, count: int) -> np.ndarray:
    """Returns noise with less power at high frequencies, and with a root mean square of 1."""
    spectrum = np.fft.rfft(rng.normal(0, 1, count))
    spectrum /= np.maximum(np.fft.rfftfreq(count, 1 / RATE), 30) ** rng.uniform(0, 1)
    samples = np.fft.irfft(spectrum, count)
    return samples / samples.std()


def say(rng: np.random.Generator, words: list[str], noise_db: float) -> tuple[np.ndarray, list[float]]:
    """Returns the int16 samples of words with pauses and noise, and the time in seconds at which each word ends."""
    parts, ends, at = [], [], 0
    for word in words:
        pause, spoken = np.zeros(int(rng.uniform(0.6, 0.9) * RATE)), speak(rng, word)
        parts += [pause, spoken]
        at += len(pause) + len(spoken)
        ends.append(at / RATE)
    clean = np.concatenate([*parts, np.zeros(RATE)])
    loud = clean + noise(rng, len(clean)) * 10 ** (noise_db / 20)
    return np.clip(loud * 3000, -32768, 32767).astype(np.int16), ends


def write(path: str, samples: np.ndarray, rate: int = RATE) -> None:
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("words", nargs="*", metavar="WORD", help=", ".join(WORDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", type=float, default=-15, help="level of the noise in dB relative to the words")
    args = parser.parse_intermixed_args()
    if unknown := [word for word in args.words if word not in WORDS]:
        parser.error(f"unknown word `{unknown[0]}`; the words are {', '.join(WORDS)}")
    write(args.out, say(np.random.default_rng(args.seed), args.words, args.noise)[0])
