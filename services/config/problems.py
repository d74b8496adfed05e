"""From pydantic's findings to the one line that a user can act on: file, key, fault, remedy."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from services.errors import HanseError

_SHOWN = 24
"""More names than these in a list of what is allowed help nobody."""


def fault(sentence: str, key: str | None = None) -> PydanticCustomError:
    """What a validator raises: a finished sentence, and the key if the validator sees several."""
    return PydanticCustomError("hanse", "{sentence}", {"sentence": sentence, "key": key})


def unknown(name: object, known: Iterable[str], kind: str = "") -> str:
    """Say that a name is unknown, which one was probably meant, and which there are."""
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    shown = ", ".join(known[:_SHOWN]) + (
        f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    )
    return f"{_quoted(name)} is not a known {kind or 'value'}{hint}; allowed: {shown or 'none'}"


def explain(
    error: ValidationError, model: type[BaseModel], values: Mapping[str, Any], source: str
) -> HanseError:
    """The error for the user: one line about the first finding, and how many others there are."""
    # A mistyped key is reported before the key that is missing because of it.
    found = sorted(
        error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden"
    )
    first = found[0]
    key = (first.get("ctx") or {}).get("key") or _key(first["loc"], values)
    sentence = " ".join(_sentence(first, model).split())
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return HanseError(": ".join(part for part in (source, key, sentence) if part) + more)


def _key(location: Sequence[int | str], values: Any) -> str:
    """`firms.roaster_A.cash` rather than `firms.2.cash`; without a name its place, from 1."""
    parts: list[str] = []
    for part in location:
        values = _inside(values, part)
        if isinstance(part, int):
            name = values.get("name") if isinstance(values, Mapping) else None
            if isinstance(name, str) and name:
                parts.append(f".{name}")
            else:
                parts.append(f"[{part + 1}]")
        elif part != "[key]":
            parts.append(f".{part}")
    return "".join(parts).removeprefix(".")


def _inside(values: Any, part: int | str) -> Any:
    try:
        return values[part]
    except (KeyError, IndexError, TypeError):
        return None


def _sentence(finding: ErrorDetails, model: type[BaseModel]) -> str:
    kind, given, context = finding["type"], finding.get("input"), finding.get("ctx") or {}
    if kind == "hanse":
        return str(context["sentence"])
    if kind == "extra_forbidden":
        owner = _model_at(model, finding["loc"][:-1])
        known = [field.alias or name for name, field in owner.model_fields.items()] if owner else []
        return unknown(finding["loc"][-1], known, "key")
    if kind == "missing":
        return "is missing; give it a value"
    field = _field_at(model, finding["loc"])
    if kind == "greater_than_equal" and field is None:  # an amount in a table of amounts
        return f"{_quoted(given)} does not fit; allowed: a whole number of at least {context['ge']}"
    if kind == "literal_error" and field is not None:
        return unknown(given, _choices(field.annotation), str(finding["loc"][-1]))
    if kind == "list_type" and isinstance(given, Mapping):
        key = finding["loc"][-1]
        if field is not None and _model_in(field.annotation)[0] is None:
            return f"is a list; set it as a whole, as in {key} = [...]"
        return f"is a list of tables; write [[{key}]] with double brackets"
    if kind in ("model_type", "dict_type"):
        return f"is a table with keys of its own, not {_quoted(given)}"
    allowed = _allowed(field) if field is not None else ""
    if kind in ("int_type", "float_type", "string_type", "bool_type", "list_type") or allowed:
        return f"{_quoted(given)} does not fit; allowed: {allowed or _TYPES[kind]}"
    return f"{finding['msg'][:1].lower()}{finding['msg'][1:]}, got {_quoted(given)}"


_TYPES = {
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
}


def _quoted(value: object) -> str:
    """The value as a run file would have it, shortened."""
    if isinstance(value, str):
        text = repr(value)
    else:
        try:
            text = json.dumps(value)
        except (TypeError, ValueError):
            text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _field_at(model: type[BaseModel], location: Sequence[int | str]) -> FieldInfo | None:
    """The field that a finding is about; None inside a plain dictionary or list."""
    if not location:
        return None
    owner = _model_at(model, location[:-1])
    if owner is None:
        return None
    for name, field in owner.model_fields.items():
        if location[-1] in (name, field.alias):
            return field
    return None


def _model_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    """The model that a path of keys leads to, through lists and dictionaries of models."""
    here: type[BaseModel] | None = model
    step_into_container = False
    for part in location:
        if (
            step_into_container
        ):  # the index of a list or the key of a dictionary: still the same model
            step_into_container = False
            continue
        field = _field_at(here, (part,)) if here is not None else None
        if field is None:
            return None
        here, step_into_container = _model_in(field.annotation)
    return here


def _model_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The model within an annotation, and whether it sits in a list or dictionary."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    for argument in get_args(annotation):
        found, _ = _model_in(argument)
        if found is not None:
            return found, getattr(annotation, "__origin__", None) in (list, dict)
    return None, False


def _choices(annotation: Any) -> list[str]:
    """The values of a Literal."""
    return [str(value) for value in get_args(annotation)]


def _allowed(field: FieldInfo) -> str:
    """The range of a number in words, or the type of anything else."""
    names, bounds = _types_and_bounds(field.annotation)
    bounds = [*field.metadata, *bounds]
    if "int" in names or "float" in names:
        noun = "a whole number" if "int" in names else "a number"
        low = next((bound.ge for bound in bounds if isinstance(bound, Ge)), None)
        above = next((bound.gt for bound in bounds if isinstance(bound, Gt)), None)
        high = next((bound.le for bound in bounds if isinstance(bound, Le)), None)
        below = next((bound.lt for bound in bounds if isinstance(bound, Lt)), None)
        if low is not None and high is not None:
            return f"{noun} from {low} to {high}" if low != high else str(low)
        limits = [
            *([f"of at least {low}"] if low is not None else []),
            *([f"above {above}"] if above is not None else []),
            *(
                [
                    f"at most {high}"
                    if low is not None or above is not None
                    else f"of at most {high}"
                ]
                if high is not None
                else []
            ),
            *([f"below {below}"] if below is not None else []),
        ]
        return " ".join([noun, " and ".join(limits)]).strip()
    if "bool" in names:
        return "true or false"
    return "text in quotes" if "str" in names else ""


def _types_and_bounds(annotation: Any) -> tuple[set[str], list[Any]]:
    """The plain types within an annotation and the bounds that `Annotated` hangs on them."""
    if annotation in (int, float, str, bool):
        return {annotation.__name__}, []
    names: set[str] = set()
    bounds = list(getattr(annotation, "__metadata__", ()))
    for bound in list(bounds):
        if isinstance(bound, FieldInfo):
            bounds.extend(bound.metadata)
    if getattr(annotation, "__origin__", None) in (list, dict):
        return names, bounds
    for argument in get_args(annotation):
        inner_names, inner_bounds = _types_and_bounds(argument)
        names |= inner_names
        bounds += inner_bounds
    return names, bounds
