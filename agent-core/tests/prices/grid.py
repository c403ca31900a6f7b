#!/usr/bin/env python3
"""Writes grid.jsonl: what genai-prices' own calculation makes of a grid of models and usages.

    pip install genai-prices==0.2.3 && python3 grid.py

The Rust test holds our calculation against it; it is another program over the same public data.
"""

import datetime
import json
import pathlib

from genai_prices import Usage, calc_price

MODELS = [
    ("anthropic", "claude-sonnet-4-5-20250929"),
    ("anthropic", "claude-opus-4-5-20251101"),
    ("anthropic", "claude-opus-4-1-20250805"),
    ("anthropic", "claude-opus-4-20250514"),
    ("anthropic", "claude-haiku-4-5-20251001"),
    ("anthropic", "claude-3-5-haiku-20241022"),
    ("openai", "gpt-5"),
    ("openai", "gpt-5-mini"),
    ("openai", "gpt-5-codex"),
    ("openai", "gpt-4.1"),
    ("openai", "o3"),
    ("google", "gemini-2.5-pro"),
    ("google", "gemini-2.5-flash"),
    ("aws", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
]
# Uncached input, read from the cache, written for 5 minutes, written for an hour, output.
USAGES = [
    (1000, 0, 0, 0, 500),
    (3, 41_234, 1_210, 0, 777),
    (10, 100_000, 99_990, 0, 1),
    (10, 100_000, 99_991, 0, 1),
    (200_001, 0, 0, 0, 64_000),
    (12, 50_000, 0, 2_000, 321),
    (0, 0, 0, 0, 1),
]
AT = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.timezone.utc)


def main():
    lines = []
    for provider, model in MODELS:
        for uncached, read, write, write_1h, output in USAGES:
            usage = Usage(
                input_tokens=uncached + read + write + write_1h,
                cache_read_tokens=read,
                cache_write_tokens=write + write_1h,
                cache_write_1h_tokens=write_1h,
                output_tokens=output,
            )
            price = calc_price(usage, model_ref=model, provider_id=provider, genai_request_timestamp=AT)
            lines.append(
                {
                    "provider": provider,
                    "model": model,
                    "usage": {
                        "uncached_input": uncached,
                        "cache_read": read,
                        "cache_write_5m": write,
                        "cache_write_1h": write_1h,
                        "output": output,
                    },
                    "cost_usd": format(price.total_price.normalize(), "f"),
                }
            )
    path = pathlib.Path(__file__).with_name("grid.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
