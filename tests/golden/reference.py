"""A second, independent implementation of the model and of its searches, in plain PyTorch.

make_goldens.py takes its numbers from transformers. This file is what they are checked against: the
forward pass written from the paper with one small matrix a head, and greedy and beam search of one
sentence in float64 that also tell how close the closest decision was (the margin), so that goldens
whose ids hang on the last bits of float32 can be found and avoided.
"""

import math

import torch

UNREAL = -1.0e8  # a lower score is generate's filler (-1e9) or a forbidden token, not a real score


def activation(name):
    return {
        "relu": torch.relu,
        "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
        "swish": lambda x: x * torch.sigmoid(x),
        "silu": lambda x: x * torch.sigmoid(x),
    }[name]


def sinusoids(positions, width):
    """[positions, width]: the first ceil(width/2) columns sine, the rest cosine (Marian's layout).

    Rounded to float32, as transformers keeps the table in a float64 model, too."""
    half = (width + 1) // 2
    table = torch.empty(positions, width, dtype=torch.float64)
    for pos in range(positions):
        for column in range(width):
            i = column if column < half else column - half
            angle = pos / 10000 ** (2 * i / width)
            table[pos, column] = math.sin(angle) if column < half else math.cos(angle)
    return table.float().double()


class Reference:
    """The model of one directory: `config` as in config.json, `weights` by Hugging Face name."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: tensor.to(torch.float64) for name, tensor in weights.items()}

    def table(self, side):
        w = self.weights
        own = f"model.{side}.embed_tokens.weight"
        return w[own] if own in w else w["model.shared.weight"]

    def output_table(self):
        if self.config["tie_word_embeddings"]:
            return self.table("decoder")
        return self.weights["lm_head.weight"]

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5)
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def embed(self, side, ids):
        c = self.config
        x = self.table(side)[torch.tensor(ids)]
        if c["scale_embedding"]:
            x = x * math.sqrt(c["d_model"])
        name = f"model.{side}.embed_positions.weight"
        # As in transformers, a table in the file takes precedence over config.json.
        positions = self.weights.get(name)
        if positions is None:
            positions = sinusoids(len(ids), c["d_model"])
        x = x + positions[: len(ids)]
        if c.get("normalize_embedding"):
            x = self.norm(f"model.{side}.layernorm_embedding", x)
        return x

    def attention(self, name, heads, x, memory, causal):
        """x [Q, D], memory [K, D] -> [Q, D] and weights [H, Q, K]."""
        dim = x.shape[-1] // heads
        scale = 1 / math.sqrt(dim) if self.config.get("scale_attention", True) else 1.0
        q, k, v = (self.linear(f"{name}.{p}_proj", y) for p, y in zip("qkv", (x, memory, memory)))
        outputs, maps = [], []
        for h in range(heads):
            cut = slice(h * dim, (h + 1) * dim)
            scores = q[:, cut] @ k[:, cut].T * scale
            if causal:
                future = torch.ones(scores.shape, dtype=torch.bool).triu(1)
                scores = scores.masked_fill(future, -math.inf)
            maps.append(torch.softmax(scores, -1))
            outputs.append(maps[-1] @ v[:, cut])
        return self.linear(f"{name}.out_proj", torch.cat(outputs, -1)), torch.stack(maps)

    def sublayer(self, norm, x, function):
        if self.config.get("normalize_before"):
            return x + function(self.norm(norm, x))
        return self.norm(norm, x + function(x))

    def feed_forward(self, name, x):
        act = activation(self.config["activation_function"])
        return self.linear(f"{name}.fc2", act(self.linear(f"{name}.fc1", x)))

    def stack(self, side, x, memory=None):
        maps = {"self": [], "cross": []}
        heads = self.config[f"{side}_attention_heads"]

        def attend(kind, name, y, keys, causal):
            out, weights = self.attention(name, heads, y, keys, causal)
            maps[kind].append(weights)
            return out

        for i in range(self.config[f"{side}_layers"]):
            layer = f"model.{side}.layers.{i}"
            x = self.sublayer(
                f"{layer}.self_attn_layer_norm", x,
                lambda y: attend("self", f"{layer}.self_attn", y, y, memory is not None))
            if memory is not None:
                x = self.sublayer(
                    f"{layer}.encoder_attn_layer_norm", x,
                    lambda y: attend("cross", f"{layer}.encoder_attn", y, memory, False))
            x = self.sublayer(
                f"{layer}.final_layer_norm", x, lambda y: self.feed_forward(layer, y))
        if self.config.get("add_final_layer_norm"):
            x = self.norm(f"model.{side}.layer_norm", x)
        return x, maps

    def encode(self, source_ids):
        return self.stack("encoder", self.embed("encoder", source_ids))

    def decode(self, memory, decoder_input_ids):
        """Returns logits [L, V] and maps."""
        x, maps = self.stack("decoder", self.embed("decoder", decoder_input_ids), memory)
        return x @ self.output_table().T + self.weights["final_logits_bias"], maps


class Margin:
    """Remembers the smallest distance between two scores of which one had to be preferred."""

    def __init__(self):
        self.least = 1000.0  # where only one token is allowed, there is no decision

    def ranking(self, scores, upto):
        """Takes note of sorted `scores`, best first; the choice of the first `upto`, and their
        order, matter."""
        for better, worse in zip(scores[:upto], scores[1 : upto + 1]):
            if worse > UNREAL:
                self.least = min(self.least, better - worse)

    def comparison(self, a, b):
        if a > UNREAL and b > UNREAL:
            self.least = min(self.least, abs(a - b))


def process(log_probs, prefix, options, max_length):
    """Applies generate's logits processors to the log-probabilities [V] of the token after
    `prefix`."""
    scores = log_probs.clone()
    for word in options["bad_words_ids"] or []:
        if word == [options["eos_token_id"]]:
            continue
        head = word[:-1]
        if not head or prefix[-len(head):] == head:
            scores[word[-1]] = -math.inf
    if options.get("forced_bos_token_id") is not None and len(prefix) == 1:
        scores = torch.full_like(scores, -math.inf)
        scores[options["forced_bos_token_id"]] = 0
    if options["forced_eos_token_id"] is not None and len(prefix) == max_length - 1:
        scores = torch.full_like(scores, -math.inf)
        scores[options["forced_eos_token_id"]] = 0
    if options["renormalize_logits"]:
        scores = torch.log_softmax(scores, -1)
    return scores


def next_log_probs(model, memory, prefix):
    return torch.log_softmax(model.decode(memory, prefix)[0][-1], -1)


def greedy(model, source_ids, options):
    """Runs greedy search; returns the produced ids and the margin. `max_length` counts the start
    symbol."""
    memory, _ = model.encode(source_ids)
    prefix, margin = [options["decoder_start_token_id"]], Margin()
    while len(prefix) < options["max_length"]:
        scores = process(next_log_probs(model, memory, prefix), prefix, options,
                         options["max_length"])
        best, ids = scores.topk(2)
        margin.ranking(best.tolist(), 1)
        prefix.append(ids[0].item())
        if prefix[-1] == options["eos_token_id"]:
            break
    return prefix[1:], margin.least


def beam_search(model, source_ids, options):
    """Runs generate's beam search for one sentence; returns hypotheses (ids, score), best first,
    and the margin."""
    beams, limit = options["num_beams"], options["max_length"]
    penalty, early = options["length_penalty"], options["early_stopping"]
    memory, _ = model.encode(source_ids)
    margin = Margin()
    running = [([options["decoder_start_token_id"]], 0.0)]
    finished = []  # (ids, score), best first, at most `beams`
    improvable, length = True, 1
    while True:
        candidates = []
        for prefix, total in running:
            scores = process(next_log_probs(model, memory, prefix), prefix, options, limit) + total
            candidates += [(prefix + [i], s) for i, s in enumerate(scores.tolist())]
        candidates.sort(key=lambda c: -c[1])
        margin.ranking([s for _, s in candidates], 2 * beams)
        candidates = [c for c in candidates[: 2 * beams] if c[1] > UNREAL]
        at_limit = length + 1 >= limit
        ends = [at_limit or ids[-1] == options["eos_token_id"] for ids, _ in candidates]
        # Only the best `beams` candidates may end; a full list is closed when stopping early.
        full = early is True and len(finished) == beams
        if improvable and not full:
            finished += [(ids, s / length**penalty)
                         for (ids, s), end in zip(candidates[:beams], ends) if end]
            finished.sort(key=lambda c: -c[1])
            margin.ranking([s for _, s in finished], beams)
            finished = finished[:beams]
        running = [c for c, end in zip(candidates, ends) if not end][:beams]
        length += 1
        if improvable:
            if not running:
                improvable = False
            elif len(finished) == beams:
                reach = limit - 1 if early == "never" and penalty > 0 else length - 1
                best, worst = running[0][1] / reach**penalty, finished[-1][1]
                margin.comparison(best, worst)
                improvable = best > worst
        if not improvable or at_limit or (early is True and len(finished) == beams):
            break
    return [(ids[1:], score) for ids, score in finished], margin.least
