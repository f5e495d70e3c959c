"""Data of Dask whose workers are gone: XGBoost waits for such a worker for ever, in stock methods as well."""

import functools
import warnings
from typing import Any, Iterable, List

from ._text import quoted

#: The values of tree_method that this library trains.
METHODS = ("gpu_hist", "gpu_exact")


async def _gone(client: Any, matrices: Iterable[Any]) -> List[str]:
    """Addresses of workers that had a part of the matrices and are no longer there."""
    there = (await client.scheduler.identity())["workers"]
    return sorted({address for matrix in matrices for address in matrix.worker_map} - set(there))


def _text(gone: List[str]) -> str:
    return (
        f"The worker {quoted(gone[0])}, which had a part of a DaskDMatrix, is gone{_others(gone)}; make the DaskDMatrix "
        "anew"
    )


def _others(gone: List[str]) -> str:
    return f", and {len(gone) - 1} more" if len(gone) > 1 else ""


def watch_workers() -> None:
    """Has a training on a DaskDMatrix fail where it would wait for ever. Stock methods, and predictions, get a warning."""
    import xgboost

    dask = getattr(xgboost, "dask", None)
    if dask is None:
        return
    stock_train, stock_predict = dask._train_async, dask._predict_async

    @functools.wraps(stock_train)
    async def train_async(client: Any, **others: Any) -> Any:
        data = [others.get("dtrain"), *(matrix for matrix, _ in others.get("evals") or [])]
        gone = await _gone(client, (matrix for matrix in data if isinstance(matrix, dask.DaskDMatrix)))
        if gone and (others.get("params") or {}).get("tree_method") in METHODS:
            raise ValueError(_text(gone))
        if gone:
            warnings.warn(f"xgboost-gpu: {_text(gone)}. XGBoost waits for that worker", UserWarning)
        return await stock_train(client=client, **others)

    @functools.wraps(stock_predict)
    async def predict_async(client: Any, *arguments: Any, **others: Any) -> Any:
        data = [value for value in (*arguments, *others.values()) if isinstance(value, dask.DaskDMatrix)]
        gone = await _gone(client, data) if data else []
        if gone:
            warnings.warn(f"xgboost-gpu: {_text(gone)}. XGBoost waits for that worker", UserWarning)
        return await stock_predict(client, *arguments, **others)

    dask._train_async, dask._predict_async = train_async, predict_async
