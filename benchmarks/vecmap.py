"""Time per self-learning iteration of unsupervised VecMap, over the one product that it cannot avoid.

20,000 x 20,000 words in 384 dimensions, float32, keep probability 0.1 (the costlier phase) and 1, on the threads that
torch takes. The bare product is measured between the iterations, so that both see the same machine. Run as
`python -m benchmarks.vecmap`; the last line is `vecmap measured required`.
"""

from statistics import median
from time import perf_counter

import torch

from benchmarks.verdict import conclude
from x2s.align.induction import Induction
from x2s.align.self_learning import Schedule, learn
from x2s.align.unsupervised_start import unsupervised_start

WORDS, DIMENSION, REPEATS, ITERATIONS = 20_000, 384, 3, 2
REQUIRED = 3.0


def main() -> None:
    source, target = _planted()
    began = perf_counter()
    pairs = unsupervised_start(source, target)
    print(f"unsupervised start: {perf_counter() - began:.2f} s, once per alignment")
    induction = Induction(WORDS, WORDS, 10)
    out = torch.empty(WORDS, WORDS)
    torch.mm(source, target.T, out=out)  # touches the memory before it is timed
    seconds: dict[str, list[float]] = {"product": [], "keep 0.1": [], "keep 1.0": []}
    for repeat in range(REPEATS):
        began = perf_counter()
        torch.mm(source, target.T, out=out)
        seconds["product"].append(perf_counter() - began)
        for keep in (0.1, 1.0):
            schedule = Schedule(keep, 2.0, 50, 1e-6, ITERATIONS, "union")
            generator = torch.Generator().manual_seed(repeat)
            learnt = learn(source, target, pairs, induction, schedule, generator, "vecmap benchmark")
            seconds[f"keep {keep}"] += [entry["seconds"] for entry in learnt.history]
    product = median(seconds["product"])
    print(f"{torch.get_num_threads()} threads, medians of {REPEATS} to {REPEATS * ITERATIONS} runs")
    for name, values in seconds.items():
        print(f"{name:10} {median(values):6.2f} s  {median(values) / product:5.2f} x")
    conclude("vecmap", max(median(seconds[f"keep {keep}"]) for keep in (0.1, 1.0)) / product, REQUIRED, at_least=False)


def _planted() -> tuple[torch.Tensor, torch.Tensor]:
    """A rotated, noisy copy of clustered vectors, row by row."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(200, DIMENSION, generator=generator)
    source = centres[torch.randint(200, (WORDS,), generator=generator)]
    source = source + torch.randn(WORDS, DIMENSION, generator=generator)
    rotation = torch.linalg.qr(torch.randn(DIMENSION, DIMENSION, generator=generator)).Q
    target = source @ rotation + 0.3 * torch.randn(WORDS, DIMENSION, generator=generator)
    return tuple(torch.nn.functional.normalize(side - side.mean(0), dim=1) for side in (source, target))  # type: ignore[return-value]


if __name__ == "__main__":
    main()
