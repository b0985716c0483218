from collections.abc import Callable
from typing import Any

class Function:
    def __init__(self, address: int, arena_bytes: int, arena_align: int, threads: int, has_state: bool) -> None: ...
    def run(self, words: Any, then: Callable[[], Any] | None = None) -> Any: ...
    def describe(
        self,
        array_type: type,
        empty: Callable[..., Any],
        sizes: tuple[tuple[int, int], ...],
        inputs: tuple[tuple[str, str, int, tuple[tuple[bool, int], ...]], ...],
        outputs: tuple[tuple[Any, tuple[tuple[bool, int], ...]], ...],
        tail: tuple[int, ...],
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
