"""Attention records for the page's tests, as docs/json.md describes them: deterministic, standard library only.

Every weight is computed from the record's own random queries, keys and values, rounded to float32 as the
program does, so that whatever the page computes again must come out the same. A vector depends on the tokens
read so far and on nothing else, so hypotheses and search branches with the same prefix share their rows.

    python3 make_fixture.py main > records.jsonl        # also: training, hostile, bare, empty, big
"""

import base64
import json
import math
import random
import struct
import sys

KINDS = ("encoder_self", "decoder_self", "cross")
END, START = "</s>", "<pad>"


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def shortest(value):
    """The shortest decimal of a float32, as a float whose repr is that decimal."""
    value = f32(value)
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        if f32(short) == value:
            return short
    return value


def packed(rows):
    """[layer][head][row][column] as base64 of little-endian float32."""
    flat = [x for layer in rows for head in layer for row in head for x in row]
    return base64.b64encode(struct.pack(f"<{len(flat)}f", *flat)).decode()


class Maker:
    """Makes records of one model shape."""

    def __init__(self, layers=2, heads=3, head_dim=6, seed=1, sharpness=1.6):
        self.layers, self.heads, self.head_dim = layers, heads, head_dim
        self.seed, self.sharpness = seed, sharpness
        self.scale = f32(1 / math.sqrt(head_dim))

    def vector(self, *what):
        dice = random.Random(repr((self.seed,) + what))
        return [f32(dice.gauss(0, self.sharpness)) for _ in range(self.head_dim)]

    def row(self, query, keys):
        """softmax(query · keysᵀ · scale) in float32."""
        scores = [sum(a * b for a, b in zip(query, key)) * self.scale for key in keys]
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        return [shortest(power / sum(powers)) for power in powers]

    def maps(self, kind, query_names, key_names, causal):
        """Weights, and the vectors they come from, of every head."""
        weights, vectors = [], {"query": [], "key": [], "value": []}
        for layer in range(self.layers):
            weights.append([])
            for which in vectors.values():
                which.append([])
            for head in range(self.heads):
                place = (kind, layer, head)
                query = [self.vector("query", *place, name) for name in query_names]
                key = [self.vector("key", *place, name) for name in key_names]
                value = [self.vector("value", *place, name) for name in key_names]
                weights[layer].append([
                    self.row(q, key[:i + 1] if causal else key) + [0.0] * (len(key) - i - 1 if causal else 0)
                    for i, q in enumerate(query)])
                for name, rows in (("query", query), ("key", key), ("value", value)):
                    vectors[name][layer].append(rows)
        return weights, {name: packed(rows) for name, rows in vectors.items()}

    def way(self, names, blocks):
        """The vectors of every token, stage by stage; sums are sums, everything else is made up."""
        width, steps = self.heads * self.head_dim, []

        def numbers(*what):
            dice = random.Random(repr((self.seed, "way") + what))
            count = 4 * width if what[0] == "hidden" else width
            return [[f32(dice.gauss(0, 1)) for _ in range(count)] for _ in names]

        def add(stage, rows, block=None, layer=None):
            step = {"stage": stage}
            if block:
                step.update(block=block, layer=layer)
            flat = [x for row in rows for x in row]
            steps.append({**step, "columns": len(flat) // max(1, len(names)),
                "values": base64.b64encode(struct.pack(f"<{len(flat)}f", *flat)).decode()})
            return rows

        def sums(a, b):
            return [[f32(x + y) for x, y in zip(p, q)] for p, q in zip(a, b)]

        stream = add("embedded", sums(add("token", numbers("token")), add("position", numbers("position"))))
        for layer in range(self.layers):
            for block in blocks + ["feed_forward"]:
                if block == "feed_forward":
                    add("hidden", numbers("hidden", layer), block, layer)
                stream = add("sum", sums(stream, add("added", numbers(block, layer), block, layer)), block, layer)
                stream = add("output", [[f32(x / 2) for x in row] for row in stream], block, layer)
        return steps

    def alternatives(self, tokens, log_probs):
        """Ten pieces a step. Of every sixth step the written one is the second, of every seventh the 41st."""
        made = {"ids": [], "tokens": [], "log_probs": [], "logits": [], "ranks": []}
        for t, token in enumerate(tokens):
            others = [f"{chr(0x2581) if i % 3 else ''}w{t}.{i}" for i in range(10)]
            row = [(piece, 200 + i, shortest(log_probs[t] - 1.5 * (i + 1))) for i, piece in enumerate(others)]
            rank = 40 if t % 7 == 6 else 1 if t % 6 == 3 else 0
            if rank > 0:
                row = [(piece, i, shortest(log_probs[t] + 0.25 / (i + 1))) if rank == 40 or i == 0 else (piece, i + 200, p)
                    for i, (piece, _, p) in enumerate(row)]
            if rank < 10:
                row.insert(rank, (token, number(token), log_probs[t]))
            row = row[:10]
            for key, values in zip(("tokens", "ids", "log_probs"), zip(*row)):
                made[key].append(list(values))
            made["logits"].append([shortest(p + 9) for p in made["log_probs"][-1]])
            made["ranks"].append(rank)
        return made

    def hypothesis(self, source, tokens, score):
        read = [START] + tokens[:-1] if tokens else []
        names = ["|".join(read[:t + 1]) for t in range(len(read))]
        places = [f"{i}:{token}" for i, token in enumerate(source)]
        decoder, decoder_vectors = self.maps("decoder_self", names, names, True)
        cross, cross_vectors = self.maps("cross", names, places, False)
        dice = random.Random(repr((self.seed, tokens)))
        log_probs = [shortest(-dice.random() * 0.8) for _ in tokens]
        return {
            "text": text_of(tokens), "tokens": tokens, "ids": [number(token) for token in tokens],
            "score": shortest(score), "log_probs": log_probs,
            "decoder_input": {"tokens": read, "ids": [number(token) for token in read]},
            "decoder_self": decoder, "cross": cross,
            "vectors": {"decoder_self": decoder_vectors, "cross": cross_vectors},
            "alternatives": self.alternatives(tokens, log_probs), "way": self.way(names, ["decoder_self", "cross"]),
        }

    def record(self, source, targets, update=None, name="fixture"):
        places = [f"{i}:{token}" for i, token in enumerate(source)]
        encoder, vectors = self.maps("encoder_self", places, places, False)
        model = {"weights": "random", "seed": self.seed, "name": name, "d_model": self.heads * self.head_dim,
                 "encoder_layers": self.layers, "decoder_layers": self.layers, "encoder_heads": self.heads,
                 "decoder_heads": self.heads, "encoder_head_dim": self.head_dim, "decoder_head_dim": self.head_dim,
                 "encoder_ffn_dim": 4 * self.heads * self.head_dim, "decoder_ffn_dim": 4 * self.heads * self.head_dim,
                 "vocab_size": 99, "decoder_vocab_size": 99, "encoder_scale": shortest(self.scale),
                 "decoder_scale": shortest(self.scale)}
        if update is not None:
            model["update"] = update
        return {"format": "attn-demo.attention", "version": 1, "model": model,
                "source": {"text": text_of(source), "tokens": source,
                    "ids": [number(token) for token in source]},
                "encoder_self": encoder, "vectors": {"encoder_self": vectors},
                "way": self.way(places, ["encoder_self"]), "decoding": {"beams": 4, "length_penalty": 1.0},
                "hypotheses": [self.hypothesis(source, tokens, -0.2 - 0.15 * i) for i,
                    tokens in enumerate(targets)]}


def text_of(tokens):
    return "".join(token for token in tokens if token not in (END, START)).replace("\u2581", " ").strip()


def number(token):
    return sum(token.encode("utf-8", "surrogatepass")) % 97


def add_report(record):
    """Figures of every head: entropy is the real one, the others are made up from a seed."""
    def figures(maps, kind):
        dice = random.Random(kind)
        made = []
        for heads in maps:
            made.append([])
            for rows in heads:
                entropy = sum(-w * math.log(w) for row in rows for w in row if w > 0) / max(1, len(rows))
                one = {"entropy": shortest(entropy), "distance": shortest(dice.random() * 4)}
                for key in ("diagonality", "end_mass", "punctuation_mass") + (("alignment", "read_alignment")
                    if kind == "cross" else ()):
                    one[key] = shortest(dice.random())
                made[-1].append(one)
        return made
    record["report"] = {"encoder_self": figures(record["encoder_self"], "encoder_self")}
    for hypothesis in record["hypotheses"]:
        hypothesis["report"] = {kind: figures(hypothesis[kind], kind) for kind in KINDS[1:]}
        source, target = ([{"text": word, "index": i} for i, word in enumerate(text.split())]
            for text in (record["source"]["text"], hypothesis["text"]))
        links = [{"source": i, "target": i, "weight": 0.75} for i in range(min(len(source), len(target)))]
        hypothesis["alignment"] = {"from": f"cross:{len(hypothesis['cross']) - 1}:0", "source": source, "target": target,
            "links": links, "weights": []}


def add_search(record, beams=4):
    """A search whose kept branches are the hypotheses, with some that were dropped."""
    nodes, index = [], {}
    for hypothesis in record["hypotheses"]:
        tokens = hypothesis["tokens"]
        for t, token in enumerate(tokens):
            path = tuple(tokens[:t + 1])
            if path in index:
                continue
            parent = index.get(path[:-1], -1)
            index[path] = len(nodes)
            total = (nodes[parent]["sum"] if parent >= 0 else 0.0) + hypothesis["log_probs"][t]
            nodes.append({
                "parent": parent, "step": t, "id": number(token), "token": token, "log_prob": hypothesis["log_probs"][t],
                "sum": shortest(total), "score": shortest(total / (t + 1)), "kept": token != END, "ended": token == END,
                "decoder_self": [[head[t][:t + 1] for head in layer] for layer in hypothesis["decoder_self"]],
                "cross": [[head[t] for head in layer] for layer in hypothesis["cross"]]})
    first = record["hypotheses"][0]["tokens"]
    for t in range(0, len(first) - 1, 2):  # a dropped node beside every second step of the best path
        beside = dict(nodes[index[tuple(first[:t + 1])]])
        beside.update(id=98, token="\u2581oder", log_prob=-4.5, sum=shortest(beside["sum"] - 4), kept=False,
            ended=False)
        nodes.append(beside)
    record["search"] = {"beams": beams, "length_penalty": 1.0, "nodes": nodes}


def pieces(text):
    """"The house+s" → ▁The ▁house s </s>: a plus marks where a word is cut."""
    return [piece if i else "\u2581" + piece for word in text.split() for i,
        piece in enumerate(word.split("+"))] + [END]


def main_records():
    maker = Maker(layers=2, heads=3, head_dim=16)
    first = maker.record(pieces("The group went home"), [pieces(text) for text in (
        "Die Gruppe ging nach Hause", "Die Gruppe ist nach Hause gegangen", "Die Gruppe fuhr heim")])
    second = maker.record(pieces("The front+door+s were open+."),
        [pieces("Die Haus+tür+en stand+en offen+.")])
    for record in (first, second):
        add_report(record)
    add_search(first)
    plain = maker.record(pieces("Yes"), [pieces("Ja")])
    return [first, second, without_options(plain)]


def without_options(record):
    """As a program writes it that knows none of the page's optional keys."""
    for owner in [record] + record["hypotheses"]:
        for key in ("vectors", "report", "alignment", "search", "alternatives", "way", "decoding"):
            owner.pop(key, None)
    for key in ("encoder_scale", "decoder_scale"):
        record["model"].pop(key, None)
    return record


def measured_records():
    """A record with receipts and the maps of measures, and one without."""
    maker = Maker(layers=2, heads=3, head_dim=16)
    record = maker.record(pieces("The group went home"), [pieces("Die Grup+pe ging")])
    dice = random.Random(7)

    def numbers(maps, signed):
        """Other numbers where a weight is, so also 0 where it is 0."""
        return [[[[shortest(weight * dice.uniform(-3 if signed else 0.5, 3)) for weight in row] for row in head]
            for head in layer] for layer in maps]
    for hypothesis in record["hypotheses"]:
        empty = {"source": [], "prefix": [], "feed_forward": 1.5, "biases": -0.5, "position": 0}
        foil = {"step": 0, "word": "\u2581Die", "text": "\u2581Der", "given": False, "difference": empty}
        hypothesis["why"] = {
            "words": [{"text": "Die", "first": 0, "count": 1, "log_prob": -0.5, "logit": empty, "foil": foil}],
            "maps": {"encoder_self": {"value": numbers(record["encoder_self"], False)}, **{
                kind: {"value": numbers(hypothesis[kind], False), "contribution": numbers(hypothesis[kind], True)}
                for kind in ("decoder_self", "cross")}}}
    return [record, maker.record(pieces("Yes"), [pieces("Ja")])]


def training_records():
    """Five moments of a run; at the first the translation is another, as in real ones."""
    records = []
    for i, update in enumerate((0, 250, 500, 1000, 1500)):
        maker = Maker(seed=100 + i, sharpness=0.2 + 0.7 * i)
        target = "Das ist" if i == 0 else "Die Gruppe ging nach Hause"
        records.append(maker.record(pieces("The group went home"), [pieces(target)], update=update))
    other = Maker().record(pieces("Another sentence"), [pieces("Ein anderer Satz")])
    # Out of order, and with another sentence in between: the page sorts them and keeps them apart.
    return [records[3], other, records[0], records[4], records[1], records[2]]


def film_records():
    """The training's moments with the curve of their run; the other sentence, the second record, is of no run."""
    made = training_records()
    train = [[update, shortest(5 * math.exp(-update / 400) + 1)] for update in range(50, 1501, 50)]
    dev = [[update, shortest(5.5 * math.exp(-update / 400) + 1), shortest(90 * (1 - math.exp(-update / 300))), None if update == 0
        else shortest(95 * (1 - math.exp(-update / 300)))] for update in (0, 250, 500, 1000, 1500)]
    return [{"first": 0, "end": 6, "train": train, "validations": dev, "best": 1000}] + made


def given_records():
    """A translation that was given, whose sixth piece is far from the likeliest."""
    record = main_records()[0]
    record["decoding"] = {"given": True}
    return [record]


def pattern_records():
    """Window \u00b11 and a global first token in the encoder, which counts twice in other rows and has projections of
    its own; rows give a quarter to global tokens of the model's own. One row of one head is no softmax."""
    record = main_records()[0]
    n = len(record["source"]["tokens"])
    runs = [[0, n, 1]] + [[0, 1, 1, max(1, q - 1), min(n, q + 2) - max(1, q - 1), 0] for q in range(1, n)]
    for layer, heads in enumerate(record["encoder_self"]):
        for head, rows in enumerate(heads):
            for q, row in enumerate(rows):
                seen = {k for i in range(0, len(runs[q]), 3) for k in range(runs[q][i], runs[q][i] + runs[q][i + 1])}
                row = [weight * (2 if k == 0 and q > 0 else 1) if k in seen else 0.0 for k, weight in enumerate(row)]
                part = 0.5 if (layer, head, q) == (1, 1, 3) else 0.75
                rows[q] = [shortest(part * weight / sum(row)) for weight in row]
    # After one layer, a row depends on the tokens that it sees; after two, on all tokens, which the global one passes
    # on.
    reach = [[0, n, 1]]
    for q in range(1, n):
        layers = [1 if k == 0 or abs(q - k) <= 1 else 2 for k in range(n)]
        ends = [k for k in range(1, n) if layers[k] != layers[k - 1]]
        reach.append([x for first, end in zip([0] + ends, ends + [n]) for x in (first, end - first, layers[first])])
    heads = len(record["encoder_self"][0])
    layers = len(record["encoder_self"])
    record["seen"] = {"encoder_self": {"reasons": ["window", "global"], "patterns": [runs],
        "of": [[0] * heads for _ in range(layers)], "own_projections": [0],
        "bias": [[[]] + [[0, 1, shortest(math.log(2))] for _ in range(1, n)]],
        "own_global": [[[0.25] * n for _ in range(heads)] for _ in range(layers)], "reach": reach}}
    return [record]


REASONS = ["window", "global", "random", "stride", "block"]


def reason_records():
    """Every key of a row is seen for another reason, with the same weight."""
    record = main_records()[0]
    n = len(record["source"]["tokens"])
    record["encoder_self"] = [[[[1 / n] * n for _ in range(n)] for _ in heads] for heads in record["encoder_self"]]
    runs = [[x for k in range(n) for x in (k, 1, k % len(REASONS))] for _ in range(n)]
    record["seen"] = {"encoder_self": {"reasons": REASONS, "patterns": [runs],
        "of": [[0] * len(heads) for heads in record["encoder_self"]]}}
    return [record]


def approximation_record(kind, **more):
    """The first of main, whose encoder is an approximation."""
    record = main_records()[0]
    del record["vectors"]
    record["approximation"] = {"encoder_self": {"type": kind, **more}}
    return record


def linformer_records():
    """Three mixtures in the place of five tokens; E and F of each layer, with minus signs."""
    maker = Maker(layers=2, heads=3, head_dim=16)
    tokens = main_records()[0]["source"]["tokens"]
    weights, _ = maker.maps("mixed", tokens, ["a", "b", "c"], False)
    dice = random.Random(5)
    mixing = [[[[shortest(dice.uniform(-1, 1)) for _ in range(3)] for _ in tokens] for _ in range(2)] for _ in range(2)]
    record = approximation_record("linformer", weights=weights, keys=mixing[0], values=mixing[1])
    record["encoder_self"] = []
    record.pop("report", None)
    return [record]


def performer_records():
    """The exact weights are those of another seed."""
    record = approximation_record("performer")
    tokens = record["source"]["tokens"]
    exact, _ = Maker(layers=2, heads=3, head_dim=16, seed=2).maps("encoder_self", tokens, tokens, False)
    record["approximation"]["encoder_self"]["exact"] = exact
    return [record]


def lsh_records():
    """Two rounds of chunks of two of five tokens: the first in their order."""
    heads, layers = 3, 2
    order = [[0, 1, 2, 3, 4], [0, 1, 4, 2, 3]]
    buckets = [[0, 0, 1, 1, 3], [0, 0, 2, 2, 0]]
    chunks = [[tokens[i:i + 2] for i in range(0, 5, 2)] for tokens in order]
    met = [set() for _ in range(5)]
    for r, cut in enumerate(chunks):
        for c, chunk in enumerate(cut):
            for query in chunk:
                met[query] |= set(chunk + (cut[c - 1] if c else chunks[r - 1][-1]))
    runs = [[x for key in sorted(keys) for x in (key, 1, 0)] for keys in met]
    best = [2, 4, 3, 0, 2]

    def all_heads(value):
        return [[value] * heads for _ in range(layers)]
    record = approximation_record("lsh", chunk=2, buckets=all_heads(buckets), order=all_heads(order),
        best=all_heads(best), mass=all_heads([1.0, 0.5, 0.75, 0.25, 0.5]),
        best_met=all_heads(sum(key in met[q] for q, key in enumerate(best)) / 5))
    for layer in record["encoder_self"]:
        for rows in layer:
            for q, row in enumerate(rows):
                rows[q] = [weight if k in met[q] else 0.0 for k, weight in enumerate(row)]
    record["seen"] = {"encoder_self": {"reasons": ["block"], "patterns": [runs], "of": all_heads(0)}}
    return [record]


def large_pattern_records():
    """A map of a pattern that is too large to be dense."""
    record = without_options(Maker(layers=1, heads=1, head_dim=4).record(pieces("a"), [pieces("b")]))
    n = 1025
    tokens = ["\u2581x"] * (n - 1) + [END]
    record["source"] = {"text": "x", "tokens": tokens, "ids": [1] * n}
    record["encoder_self"] = []
    record["seen"] = {"encoder_self": {"reasons": ["window"], "patterns": [[[q, 1, 0] for q in range(n)]],
        "of": [[0]], "weights": [[[[1.0]] * n]]}}
    for hypothesis in record["hypotheses"]:
        hypothesis["cross"] = [[[[1.0] + [0.0] * (n - 1) for _ in hypothesis["tokens"]]]]
    return [record]


HOSTILE = [
    "</script><script>window.tripped=1</script>", "<!--<script>", "\"'`\\", "<svg onload=window.tripped=2>",
    "<img src=x onerror=window.tripped=3>", "\u001b[31mred\u001b[0m", "a\u202eb\u2066c", "x\u2028y\u2029z", "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f600", "w" * 200, "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "\u200b", "\u00a0", "e" + "\u0301" * 40, "javascript:window.tripped=4",
    "${window.tripped=5}", "]]>", "&lt;b&gt;", "__proto__", "constructor", "@DATA@", "@SCRIPT@", "\ufeff", "\u2581", "\u0000", "{{7*7}}", "%00", "\U000e0041",
]


def hostile_records():
    maker = Maker(layers=1, heads=2, head_dim=4)
    tokens = ["\u2581" + word for word in HOSTILE] + [END]
    record = maker.record(tokens, [tokens, list(reversed(tokens[:-1])) + [END]],
        name="</script><b>\u202ename")
    record["source"]["text"] = " ".join(HOSTILE)
    add_report(record)
    add_search(record)
    right_to_left = ["\u2581\u05e9\u05dc\u05d5\u05dd", "\u2581\u05e2\u05d5\u05dc\u05dd", "\u2581hello", END]
    return [record, maker.record(right_to_left, [right_to_left])]


def empty_records():
    maker = Maker(layers=1, heads=2, head_dim=4)
    record = maker.record([END], [[]])
    record["report"] = {"encoder_self": []}
    record["hypotheses"][0]["report"] = {"decoder_self": [], "cross": []}
    return [record, maker.record([], []), maker.record(pieces("Then words"), [pieces("Dann Wörter")])]


def big_records():
    """60 tokens × 6 layers × 16 heads; plain random rows, four decimals, so that it is made quickly."""
    dice = random.Random(60)

    def rows(n, m, causal):
        made = []
        for q in range(n):
            seen = q + 1 if causal else m
            row = [dice.random() ** 8 for _ in range(seen)]
            total = sum(row)
            made.append([round(w / total, 5) for w in row] + [0.0] * (m - seen))
        return made

    def maps(causal):
        return [[rows(60, 60, causal) for _ in range(16)] for _ in range(6)]

    record = Maker(layers=6, heads=16, head_dim=8).record([], [])
    tokens = [("\u2581" if i % 3 else "") + f"w{i}" for i in range(59)] + [END]
    record["source"] = {"text": text_of(tokens), "tokens": tokens, "ids": list(range(60))}
    record["encoder_self"] = maps(False)
    record["hypotheses"] = [{
        "text": text_of(tokens), "tokens": tokens, "ids": list(range(60)), "score": -0.5, "log_probs": [-0.5] * 60,
        "decoder_input": {"tokens": [START] + tokens[:-1], "ids": [99] + list(range(59))},
        "decoder_self": maps(True), "cross": maps(False)}]
    return [without_options(record)]


def several_records():
    """Two sentences, and what a program says of all of them together."""
    made = main_records()[:2]
    heads = {"format": "attn-demo.heads", "version": 1, "sentences": 2}
    for owner in (made[1], made[1]["hypotheses"][0]):
        heads.update(owner["report"])
    for layer in heads["cross"]:
        for figures in layer:
            figures["alignment"], figures["read_alignment"] = shortest(1 - figures["alignment"]), 0.0
    made[0]["hypotheses"][0]["alignment"]["from"] = "cross:0:1"
    return made + [heads]


def changed_records():
    """An experiment: the sentence as it is, and with one query of one head put on one word, another head off."""
    before = main_records()[0]
    after = json.loads(json.dumps(before))
    after["changes"] = ["forced cross:1:2:3=0", "without cross:0:1"]
    row = after["hypotheses"][0]["cross"][1][2][3]
    row[:] = [1.0] + [0.0] * (len(row) - 1)
    for row in after["hypotheses"][0]["cross"][0][1]:
        row[:] = [0.0] * len(row)
    after["hypotheses"][1]["replayed"] = True
    return [before, after]


def parts_records():
    """A line that two models translated in two parts."""
    made = []
    for number, gap in ((1, ""), (2, " ")):
        record = json.loads(json.dumps(main_records()[0]))
        record["part"] = {"line": 7, "number": number, "of": 2, "text": "The whole line", "gap": gap}
        record["model"]["ensemble"] = ["one", "<b>two"]
        made.append(record)
    return made


MAKERS = {"main": main_records, "training": training_records, "hostile": hostile_records, "empty": empty_records,
          "pattern": pattern_records, "reasons": reason_records, "large_pattern": large_pattern_records,
          "linformer": linformer_records, "performer": performer_records, "lsh": lsh_records,
          "several": several_records, "changed": changed_records, "parts": parts_records, "film": film_records, "measures": measured_records, "given": given_records,
          "big": big_records, "bare": lambda: [without_options(record) for record in main_records()]}


def lines(name):
    return [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in MAKERS[name]()]


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in MAKERS:
        sys.exit(f"usage: make_fixture.py {'|'.join(MAKERS)}")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for line in lines(sys.argv[1]):
        sys.stdout.write(line + "\n")
