"""Computes the memory that compare_training.py compares peaks with: the arrays that any trainer
needs, from the model's shape and the batches of the text."""

D, LAYERS, HEADS, FFN, VOCABULARY = 256, 3, 4, 1024, 8000  # LAYERS in each of the two stacks
BUDGET = 3000  # padded positions of a batch


def parameter_count():
    attention, norm = 4 * (D * D + D), 2 * D
    feed_forward = 2 * D * FFN + FFN + D
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return VOCABULARY * D + LAYERS * (encoder_layer + decoder_layer)


def kept_activations(batch):
    """Returns the number of floats that the backward pass of a batch needs from the forward pass,
    without padding.

    encoder layer, a source token: input D, query, key and value 3D, heads' output D, both norms'
        input 2D, the first norm's output D, hidden layer F (after ReLU and dropout)
    decoder layer, a target token: the same, and for the attention to the source: query D, heads'
        output D, norm's input D, norm's output D; a source token: key and value 2D
    each attention: a weight for each head, query and key (masks of dropout can be made again)
    each stack's output: D
    """
    source, target = (sum(pair[side] for pair in batch) for side in (0, 1))
    maps = sum(s * s + t * t + s * t for s, t in batch) * HEADS
    layer = source * (8 * D + FFN) + target * (12 * D + FFN) + source * 2 * D + maps
    return LAYERS * layer + (source + target) * D


def batches_of(split, pieces):
    """Returns the lengths of (source, target), with the end symbol, in the batches that both
    trainers make."""
    import sentencepiece

    model = sentencepiece.SentencePieceProcessor(model_file=str(pieces / "source.spm"))
    sides = [(split / f"train.{code}").read_text(encoding="utf-8").split("\n")
             for code in ("en", "de")]
    lengths = [[len(ids) + 1 for ids in model.encode(lines)] for lines in sides]
    pairs = [pair for pair in zip(*lengths) if min(pair) > 1]
    batches, widest = [], 0
    for pair in sorted(pairs, key=lambda pair: pair[::-1]):
        if not batches or max(widest, *pair) * (len(batches[-1]) + 1) > BUDGET:
            batches.append([])
            widest = 0
        widest = max(widest, *pair)
        batches[-1].append(pair)
    return batches


def yardstick(split, pieces):
    """-> bytes of weights, gradients and Adam's two moments; of the largest batch's activations
    that must be kept; of its logits, which need not: the loss can be taken a few rows at a time."""
    batches = batches_of(split, pieces)
    logits = max(sum(t for _, t in batch) for batch in batches) * (VOCABULARY - 1)
    return 4 * 4 * parameter_count(), 4 * max(map(kept_activations, batches)), 4 * logits
