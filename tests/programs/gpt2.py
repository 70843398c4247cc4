#!/usr/bin/env python3
"""A GPT-2 of two layers for llm.c's test: its weights, and what another implementation, in double precision and differentiated by JAX, says of ten steps of training.

  python3 tests/programs/gpt2.py FOLDER

writes FOLDER/gpt2_124M.bin and FOLDER/gpt2_124M_debug_state.bin, the names that the test opens, and prints the ten losses, which stand in arguments.toml.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

# Positions, words, words with padding, layers, heads, channels; sequences of a batch.
T, V, PADDED, L, HEADS, C, B = 64, 200, 256, 2, 4, 128, 2
RATE, BETA1, BETA2, EPSILON, DECAY, STEPS = 1e-4, 0.9, 0.999, 1e-8, 0.01, 10
# In the order of the file: shape, and the mean and spread of what it begins with.
TENSORS = {
    "wte": ((PADDED, C), 0, 0.3), "wpe": ((T, C), 0, 0.3), "ln1w": ((L, C), 1, 0.1), "ln1b": ((L, C), 0, 0.1),
    "qkvw": ((L, 3 * C, C), 0, 0.1), "qkvb": ((L, 3 * C), 0, 0.1), "attprojw": ((L, C, C), 0, 0.1), "attprojb": ((L, C), 0, 0.1),
    "ln2w": ((L, C), 1, 0.1), "ln2b": ((L, C), 0, 0.1), "fcw": ((L, 4 * C, C), 0, 0.1), "fcb": ((L, 4 * C), 0, 0.1),
    "fcprojw": ((L, C, 4 * C), 0, 0.1), "fcprojb": ((L, C), 0, 0.1), "lnfw": ((C,), 1, 0.1), "lnfb": ((C,), 0, 0.1),
}  # fmt: skip


def normed(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def attention(qkv):
    q, k, v = (part.reshape(B, T, HEADS, C // HEADS).transpose(0, 2, 1, 3) for part in jnp.split(qkv, 3, axis=-1))
    scores = jnp.where(jnp.tril(jnp.ones((T, T), bool)), q @ k.swapaxes(-1, -2) / jnp.sqrt(C // HEADS), -jnp.inf)
    return (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(B, T, C)


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(jnp.sqrt(2 / jnp.pi) * (x + 0.044715 * x**3)))


def logits(p, x):
    h = p["wte"][x] + p["wpe"]
    for l in range(L):
        h = h + attention(normed(h, p["ln1w"][l], p["ln1b"][l]) @ p["qkvw"][l].T + p["qkvb"][l]) @ p["attprojw"][l].T + p["attprojb"][l]
        h = h + gelu(normed(h, p["ln2w"][l], p["ln2b"][l]) @ p["fcw"][l].T + p["fcb"][l]) @ p["fcprojw"][l].T + p["fcprojb"][l]
    return (normed(h, p["lnfw"], p["lnfb"]) @ p["wte"].T)[..., :V]


def loss(p, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits(p, x)), y[..., None], -1).mean()


def trained(p, x, y):
    """The losses before each step of AdamW, all weights decaying."""
    both = jax.jit(jax.value_and_grad(loss))
    m, v, losses = {name: 0 * w for name, w in p.items()}, {name: 0 * w for name, w in p.items()}, []
    for step in range(1, STEPS + 1):
        now, g = both(p, x, y)
        losses.append(float(now))
        for name in p:
            m[name] = BETA1 * m[name] + (1 - BETA1) * g[name]
            v[name] = BETA2 * v[name] + (1 - BETA2) * g[name] ** 2
            change = m[name] / (1 - BETA1**step) / (jnp.sqrt(v[name] / (1 - BETA2**step)) + EPSILON)
            p[name] = p[name] - RATE * (change + DECAY * p[name])
    return losses


def header(*values):
    return np.array([*values, *[0] * (256 - len(values))], np.int32).tobytes()


def flat(tensors):
    return b"".join(np.asarray(tensors[name], np.float32).tobytes() for name in TENSORS)


def make(folder):
    """Both files; the losses."""
    draw = np.random.default_rng(5)
    p = {name: np.float32(draw.normal(mean, spread, shape)).astype(float) for name, (shape, mean, spread) in TENSORS.items()}
    p["wte"][V:] = 0
    words = draw.integers(0, V, (B, T + 1)).astype(np.int32)
    x, y = words[:, :-1], words[:, 1:]
    first, gradients = jax.value_and_grad(loss)(p, x, y)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gpt2_124M.bin").write_bytes(header(20240326, 3, T, V, L, HEADS, C, PADDED) + flat(p))
    state = [x, y, np.asarray(logits(p, x), np.float32), np.float32(first)]
    (folder / "gpt2_124M_debug_state.bin").write_bytes(header(20240327, 2, B, T) + b"".join(np.ascontiguousarray(part).tobytes() for part in state) + flat(gradients))
    return trained(dict(p), x, y)


if __name__ == "__main__":
    print(*(f"{value:.6f}" for value in make(Path(sys.argv[1]))))
