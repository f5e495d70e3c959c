"""Estimators in pickles and model files.

``set_params`` of a trained estimator gives its booster all parameters again, and stock XGBoost refuses values that only
this library knows. So a written estimator, if trained, has values of stock XGBoost in their place. Our values stand
beside them, where only this package reads them.

A booster in a model file has no parameters. When an estimator is loaded from one, its booster is told by which method
it predicts. (XGBoost 1.7 writes an estimator's parameters beside the model. Newer ones do not, and the estimator keeps its own.)

A pickle also says in which process ``gpu_trace`` was set: in any other one, such as a worker of joblib, the estimator
writes a file of its own.
"""

import copy
import functools
import inspect
import os
import weakref
from typing import Any, Dict, Mapping, MutableMapping, Tuple

from ._constraints import READERS, as_stock

#: Parameters and their values that stock XGBoost refuses, with what it takes in their place.
STOCK_VALUES = {
    "tree_method": {"gpu_hist": "hist", "gpu_exact": "exact"},
    "predictor": {"gpu_predictor": "auto"},
    "sampling_method": {"goss": "gradient_based"},
    "grow_policy": {"symmetric": "depthwise"},
}
#: Names of the parameter that lists updaters, and the one that only this library has.
UPDATER_NAMES, OUR_UPDATER = ("updater", "updater_seq"), "grow_gpu_hist"
#: Members of a written estimator: our values by parameter; the name given as gpu_trace, and the process that set it.
OUR_VALUES, TRACE = "_gpu_values", "_gpu_trace"


def _names_our_updater(sequence: Any) -> bool:
    return isinstance(sequence, str) and OUR_UPDATER in sequence.split(",")


def trains_here(parameters: Dict[str, Any]) -> bool:
    """Whether the parameters name a method or an updater of this library."""
    names_method = parameters.get("tree_method") in list(STOCK_VALUES["tree_method"])
    return names_method or any(_names_our_updater(parameters.get(name)) for name in UPDATER_NAMES)


def _stock_updaters(sequence: str, tree_method: Any) -> str:
    stock = "grow_colmaker,prune" if tree_method == "gpu_exact" else "grow_quantile_histmaker"
    return ",".join(stock if name == OUR_UPDATER else name for name in sequence.split(","))


def _with_stock_values(state: Dict[str, Any]) -> Dict[str, Any]:
    """Puts stock values in place of ours in a trained estimator.

    Untrained estimators keep ours: a training without the library shall fail, not use another method.
    """
    if "_Booster" not in state:
        return state
    ours = {name: state[name] for name, values in STOCK_VALUES.items() if state.get(name) in list(values)}
    stock = {name: STOCK_VALUES[name][value] for name, value in ours.items()}
    for name in READERS:
        value = state.get(name)
        if value is not as_stock(name, value):  # stock refuses the list
            ours[name], stock[name] = value, as_stock(name, value)
    kwargs = state.get("kwargs") or {}
    for name in UPDATER_NAMES:
        if _names_our_updater(kwargs.get(name)):
            ours[name] = kwargs[name]
            kwargs = {**kwargs, name: _stock_updaters(kwargs[name], state.get("tree_method"))}
            stock["kwargs"] = kwargs
    return {**state, **stock, OUR_VALUES: ours} if ours else state


def _with_our_values(state: Dict[str, Any]) -> Dict[str, Any]:
    """Puts our values back; a value that somebody has changed without this package stays."""
    state = dict(state)
    ours = state.pop(OUR_VALUES, {})
    for name, values in STOCK_VALUES.items():
        if name in ours and state.get(name) == values.get(ours[name]):
            state[name] = ours[name]
    for name in READERS:
        if name in ours and isinstance(state.get(name), str) and state[name] == as_stock(name, ours[name]):
            state[name] = ours[name]
    kwargs = state.get("kwargs") or {}
    for name in UPDATER_NAMES:
        if name in ours and kwargs.get(name) == _stock_updaters(ours[name], ours.get("tree_method")):
            kwargs = state["kwargs"] = {**kwargs, name: ours[name]}
    return state


def _trace_here(name: str, process: int) -> str:
    return name if process == os.getpid() else f"{name}.{os.getpid()}"


def _with_process_of_trace(state: Dict[str, Any]) -> Dict[str, Any]:
    trace = state.get("kwargs", {}).get("gpu_trace")
    if not trace:
        return state
    known = state.get(TRACE)  # of an estimator that was in a pickle, unless its gpu_trace was set anew
    name, process = known if known and trace == _trace_here(*known) else (str(trace), os.getpid())
    return {**state, "kwargs": {**state["kwargs"], "gpu_trace": name}, TRACE: (name, process)}


def _with_trace_of_process(state: Dict[str, Any]) -> Dict[str, Any]:
    if TRACE not in state:
        return state
    return {**state, "kwargs": {**state["kwargs"], "gpu_trace": _trace_here(*state[TRACE])}}


def _without_trace(state: Dict[str, Any]) -> Dict[str, Any]:
    """Removes gpu_trace: a model file may come from anywhere, and must not name a file to write."""
    state = {name: value for name, value in state.items() if name != TRACE}
    if "kwargs" in state:
        state["kwargs"] = {name: value for name, value in state["kwargs"].items() if name != "gpu_trace"}
    return state


def _of_booster(parameters: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the parameters of an estimator that make its booster predict as the trained booster did."""
    if not trains_here(parameters):
        return {}
    names = ("tree_method", "predictor", "gpu_backend", "gpu_id")
    if any(_names_our_updater(parameters.get(name)) for name in UPDATER_NAMES):
        names += UPDATER_NAMES
    return {name: parameters[name] for name in names if parameters.get(name) is not None}


@functools.lru_cache(maxsize=64)
def _defaults_of(kind: type) -> Mapping[str, Any]:
    """Returns the defaults of all parameters of an estimator's class, by name. They are kept, because XGBoost copies an
    estimator at every `get_params`."""
    return {
        name: parameter.default
        for one in kind.__mro__
        if one.__module__.startswith("xgboost.")
        for name, parameter in inspect.signature(one.__init__).parameters.items()
        if parameter.default is not parameter.empty
    }


def _with_every_parameter(state: Dict[str, Any], kind: type) -> Dict[str, Any]:
    """Adds parameters that newer versions of XGBoost no longer have, so that their pickles can be used here."""
    return {**_defaults_of(kind), **state}


def write_for_stock() -> None:
    """Makes all of XGBoost's estimators, and classes derived from them, write stock values."""
    from xgboost import XGBModel

    stock_save, stock_load = XGBModel.save_model, XGBModel.load_model
    read: MutableMapping[Any, Any] = weakref.WeakKeyDictionary()  # kwargs that an estimator has from a model file

    def reduce_ex(self: Any, protocol: int) -> Tuple:
        made = super(XGBModel, self).__reduce_ex__(protocol)
        if len(made) < 3 or not isinstance(made[2], dict):
            return made  # a class of the user has a form of its own
        function, arguments, state, *rest = made
        return (function, arguments, _with_process_of_trace(_with_stock_values(state)), *rest)

    def set_state(self: Any, state: Dict[str, Any]) -> None:
        state = _with_trace_of_process(_with_our_values(state))
        super(XGBModel, self).__setstate__(_with_every_parameter(state, type(self)))

    @functools.wraps(stock_save)
    def save_model(self: Any, *arguments: Any, **others: Any) -> None:
        written = copy.copy(self)
        written.__dict__ = _without_trace(_with_stock_values(vars(self)))
        stock_save(written, *arguments, **others)

    @functools.wraps(stock_load)
    def load_model(self: Any, *arguments: Any, **others: Any) -> None:
        whole = dict(vars(self))
        kept = dict(whole)
        if _of_booster(self.get_xgb_params()):
            # A booster keeps what it was told, and an estimator the kwargs of the file before: both begin anew.
            kept.pop("_Booster", None)
            if kept.get("kwargs") is not None and kept["kwargs"] is read.get(self):
                del kept["kwargs"]
        self.__dict__ = dict(kept)
        try:
            stock_load(self, *arguments, **others)
        except BaseException:
            self.__dict__ = whole
            raise
        if all(vars(self)[name] is value for name, value in kept.items() if name != "_Booster"):
            self.__dict__ = {**whole, "_Booster": self._Booster}  # a booster's file says nothing of the estimator
        state = _with_our_values(vars(self))
        if state.get("kwargs") is not whole.get("kwargs"):
            state = _without_trace(state)
            read[self] = state.get("kwargs")
        self.__dict__ = state
        self.get_booster().set_param(_of_booster(self.get_xgb_params()))

    XGBModel.__reduce_ex__, XGBModel.__setstate__ = reduce_ex, set_state
    XGBModel.save_model, XGBModel.load_model = save_model, load_model
