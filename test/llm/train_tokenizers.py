"""Trains small tokenizers of all supported kinds with the package `tokenizers`: train_tokenizers.py FOLDER.

The text to train with is made of characters of many scripts, so no file from the network is needed.
"""
import random
import sys
from collections import Counter
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from scripts import sample

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BYTES = [f"<0x{i:02X}>" for i in range(256)]
SIZE = 1200


def corpus():
    rng = random.Random(7)
    return [sample(rng, 60) for _ in range(1500)]


def byte_level(pattern, normalizer=None, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.normalizer = normalizer
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    tokenizer.pre_tokenizer = level if pattern is None else pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), "isolated"), level])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(vocab_size=SIZE, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def gpt2():
    tokenizer = byte_level(None)
    tokenizer.add_tokens([AddedToken("straße", normalized=True), AddedToken("ab c", single_word=True),
                          AddedToken("<mask>", lstrip=True, rstrip=True)])
    return tokenizer


def llama3():
    tokenizer = byte_level(LLAMA3, ignore_merges=True)
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False),
         processors.TemplateProcessing(single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)])])
    return tokenizer


def llama2():
    """SentencePiece BPE with bytes for unknown characters, without a pre-tokenizer."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(vocab_size=SIZE, show_progress=False, limit_alphabet=300,
                                  special_tokens=["<unk>", "<s>", "</s>"] + BYTES)
    tokenizer.train_from_iterator([word for line in corpus() for word in line.split(" ")], trainer)
    # The bytes are ordinary tokens of the vocabulary, as in the files of Llama.
    import json
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = [token for token in data["added_tokens"] if token["id"] < 3]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A $B",
                                                             special_tokens=[("<s>", 1), ("</s>", 2)])
    return tokenizer


def metaspace(scheme):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=SIZE, show_progress=False,
                                                                limit_alphabet=400, special_tokens=["<unk>", "<sep>"]))
    return tokenizer


def unigram(byte_fallback):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(" {2,}"), " "),
                                                 normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    lines = corpus()[:700]
    common = {char for char, _ in Counter("".join(lines)).most_common(400)}
    lines = ["".join(char for char in line if char in common)[:200] for line in lines]
    tokenizer.train_from_iterator(lines, trainers.UnigramTrainer(
        vocab_size=SIZE, show_progress=False, unk_token="<unk>",
        special_tokens=["<unk>", "<s>", "</s>"] + (BYTES if byte_fallback else [])))
    if byte_fallback:
        import json
        data = json.loads(tokenizer.to_str())
        data["model"]["byte_fallback"] = True
        data["added_tokens"] = [token for token in data["added_tokens"] if token["id"] < 3]
        tokenizer = Tokenizer.from_str(json.dumps(data))
        tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return tokenizer


def bert(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(corpus(), trainers.WordPieceTrainer(
        vocab_size=SIZE, show_progress=False, limit_alphabet=400,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
                                                             special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.enable_truncation(128)
    return tokenizer


def words(pre_tokenizer, normalizer):
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(corpus(), trainers.WordLevelTrainer(vocab_size=SIZE, show_progress=False,
                                                                      special_tokens=["<unk>"]))
    return tokenizer


P = pre_tokenizers
ALL = {
    "gpt2": gpt2,
    "llama3": llama3,
    "qwen2": lambda: byte_level(QWEN2, normalizers.NFC()),
    "o200k": lambda: byte_level(O200K),
    "llama2": llama2,
    "metaspace_first": lambda: metaspace("first"),
    "metaspace_never": lambda: metaspace("never"),
    "unigram": lambda: unigram(False),
    "unigram_bytes": lambda: unigram(True),
    "bert_lower": lambda: bert(True),
    "bert_cased": lambda: bert(False),
    "word_splits": lambda: words(P.Sequence([P.Whitespace(), P.Digits(individual_digits=True)]), normalizers.Lowercase()),
    "word_parts": lambda: words(P.Sequence([P.WhitespaceSplit(), P.Punctuation("merged_with_next"), P.Digits()]),
                                normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])),
    "word_previous": lambda: words(P.Sequence([P.CharDelimiterSplit(" "), P.Split(Regex("[aeiou]"), "merged_with_previous"),
                                               P.Split("n", "contiguous")]), normalizers.NFD()),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or ALL:
        ALL[name]().save(str(folder / f"{name}.json"))
