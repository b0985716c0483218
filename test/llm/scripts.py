"""Random text of many scripts."""
BLOCKS = [(0x20, 0x7E, 30), (0xA0, 0xFF, 6), (0x100, 0x17F, 3), (0x300, 0x36F, 2), (0x370, 0x3FF, 3), (0x400, 0x4FF, 4),
          (0x530, 0x58F, 1), (0x590, 0x5FF, 2), (0x600, 0x6FF, 3), (0x900, 0x97F, 3), (0x980, 0x9FF, 1),
          (0xE00, 0xE7F, 2), (0x10A0, 0x10FF, 1), (0x1100, 0x11FF, 1), (0x1E00, 0x1EFF, 2), (0x1F00, 0x1FFF, 1),
          (0x2000, 0x206F, 2), (0x2070, 0x218F, 2), (0x2190, 0x27BF, 2), (0x3000, 0x30FF, 4), (0x3300, 0x33FF, 1),
          (0x4E00, 0x9FFF, 4), (0xAC00, 0xD7A3, 3), (0xF900, 0xFAFF, 1), (0xFB00, 0xFDFF, 1), (0xFE00, 0xFFEF, 2),
          (0x1D400, 0x1D7FF, 1), (0x1F300, 0x1FAFF, 3), (0x20000, 0x2FA1F, 1), (0x0, 0x1F, 1)]
WORDS = ("the of and to in is it's we'll THEY'RE I'd you've can't do not hello world straße naïve café Москва привет "
         "こんにちは 世界 안녕하세요 नमस्ते مرحبا שלום γειά 你好 token tokens tokenizer 12345 3.14 2026-11-28 x=y+1; "
         "def f(x): return\n \n\n \t\r\n   <mask> <|im_end|> <|endoftext|> [SEP] [CLS] </s> <s> <0x0A> ab c ▁ ▁▁ "
         "👩‍👩‍👧‍👦 🇩🇪 e\u0301 \u1e9b\u0323 ﬁ ½ Ⅷ ǅ İstanbul ſ K").split(" ")


def sample(rng, most):
    """A text of up to `most` parts: words, characters of one block, spaces."""
    parts = []
    for _ in range(rng.randint(0, most)):
        kind = rng.random()
        if kind < 0.4:
            parts.append(rng.choice(WORDS))
        elif kind < 0.55:
            parts.append(rng.choice([" ", " ", "  ", "   ", "\n", "\t", "\u00a0", "\u3000", ""]))
        else:
            low, high, _ = rng.choices(BLOCKS, [block[2] for block in BLOCKS])[0]
            parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 8))))
        if rng.random() < 0.5:
            parts.append(" ")
    return "".join(parts)
