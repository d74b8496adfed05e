"""Messages: the envelope that every agent sends and receives, and the registry of payloads.

A payload is a frozen pydantic model with a ``type`` literal. Defining a subclass of
:class:`Payload` registers it, so the union of payloads is closed at any moment and extended by
definition::

    class Rumour(Payload):
        type: Literal["rumour"] = "rumour"
        text: str

Validation happens where a message enters the system (configuration, network, a user's agent).
Inside one process payloads travel by reference; between processes as msgpack of their dump.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self, TypeVar

import msgpack
from pydantic import BaseModel, BeforeValidator, ConfigDict, SerializeAsAny

from services.errors import HanseError

Channel = Literal["comm", "mem", "tool", "exec"]
"""CASPIAN's four channels: talk, shared memory, tool calls, execution (arXiv note ``caspian``)."""

MINUTES_PER_DAY: Final = 1440

_REGISTRY: dict[str, type[Payload]] = {}


_Model = TypeVar("_Model", bound=BaseModel)
_SHAPES: dict[type[BaseModel], tuple[dict[str, Any], set[str]]] = {}
_new = object.__new__
# The slots of a model themselves: half the price of `object.__setattr__`.
_put_values, _put_names, _put_extra, _put_private = (
    BaseModel.__dict__[slot].__set__
    for slot in (
        "__dict__",
        "__pydantic_fields_set__",
        "__pydantic_extra__",
        "__pydantic_private__",
    )
)


def filled(model: type[_Model], values: dict[str, Any], names: set[str]) -> _Model:
    """A model from values of our own making, without validation: the hottest of all paths.

    Args:
        model: What is made.
        values: All its fields, in the order of their definition; it keeps the dictionary.
        names: Their names; it keeps the set.
    """
    self = _new(model)
    _put_values(self, values)
    _put_names(self, names)
    _put_extra(self, None)
    _put_private(self, None)
    return self


def _trusted(cls: type[_Model], values: dict[str, Any]) -> _Model:
    shape = _SHAPES.get(cls)
    if shape is None:
        fields = cls.model_fields
        defaults = {n: f.default for n, f in fields.items() if not f.is_required()}
        shape = _SHAPES[cls] = defaults, set(fields)
    defaults, names = shape
    return filled(cls, values if len(values) == len(names) else defaults | values, names)


class Payload(BaseModel):
    """Base of everything that can be said; subclasses carry ``type: Literal["..."] = "..."``."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    channel: ClassVar[Channel] = "comm"
    """The channel on which messages with this payload travel unless the sender names another."""
    internal: ClassVar[bool] = False
    """Whether only the league's own agents may send it; a host refuses it from a user's."""
    silent: ClassVar[bool] = False
    """Whether its recipient only remembers it, and sends nothing because of it: such mail does not
    keep hosts from playing a day each for itself."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        field = cls.model_fields.get("type")
        if field is None:
            return
        name = field.default
        known = _REGISTRY.get(name)
        if known is not None and (known.__module__, known.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise HanseError(
                f"payload type {name!r} is defined twice:"
                f" by {known.__module__}.{known.__qualname__}"
                f" and by {cls.__module__}.{cls.__qualname__}; give one of them another name"
            )
        _REGISTRY[name] = cls

    @classmethod
    def trusted(cls, **values: Any) -> Self:
        """A payload from values of our own making, without validation: a third of the time.

        It is quickest if all fields are given, in the order of their definition.
        """
        return _trusted(cls, values)

    def log_body(self) -> str:
        """The payload as the event log keeps it: JSON text, without fields at their default."""
        if not self.__pydantic_fields_set__:
            return "{}"
        return self.__pydantic_serializer__.to_json(self, exclude_defaults=True).decode()


def payload_class(name: str) -> type[Payload]:
    """The payload model registered as ``name``.

    Raises:
        HanseError: no payload of that type is known in this process.
    """
    try:
        return _REGISTRY[name]
    except KeyError:
        raise HanseError(
            f"unknown payload type {name!r}; known types: {', '.join(sorted(_REGISTRY))}"
        ) from None


def _resolve(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return payload_class(value["type"]).model_validate(value)
    return value


AnyPayload = Annotated[SerializeAsAny[Payload], BeforeValidator(_resolve)]
"""A payload of any registered type, chosen by its ``type`` when it is read back."""


class Origin(NamedTuple):
    """Where a message comes from."""

    message: str
    """The message that is its cause; empty if none is."""
    root: str
    """The wake-up with which it began; empty if that is the sender's own, now."""


NOBODY: Final = Origin("", "")
"""What comes with the time of day, or by an agent's own will."""


class Message(BaseModel):
    """The envelope.

    ``number`` is the sender's own counter, so (sender, number) is unique, ordered and the same in
    every run of a seed; :attr:`id` is its printable form.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sender: str
    number: int
    recipient: str
    channel: Channel
    sent_at: int
    """Virtual minutes since the start of the run."""
    payload: AnyPayload
    in_reply_to: str | None = None
    cause: str | None = None
    """The message whose handling sent this one, where that is not :attr:`in_reply_to`."""
    root: str = ""
    """The wake-up from which the chain of causes began, as ``agent@minute``: its trace."""
    trace: str | None = None
    """W3C ``traceparent`` of the span that sent the message, if it came from outside."""

    @property
    def id(self) -> str:
        """``sender#number``, unique in a run."""
        return f"{self.sender}#{self.number}"

    @property
    def origin(self) -> Origin:
        """The message as the cause of others."""
        # Past the named tuple's own constructor: one is made for every message that is sent.
        return tuple.__new__(Origin, (f"{self.sender}#{self.number}", self.root))

    @property
    def payload_type(self) -> str:
        """The payload's registered name."""
        return self.payload.type  # type: ignore[attr-defined, no-any-return]


MESSAGE_FIELDS: Final = set(Message.model_fields)
delivery_order: Final = attrgetter("recipient", "sender", "number")
"""The order in which a round's messages are handled, wherever they come from."""


class Letter(Payload):
    """A direct message from one firm to another, handed over by the town's exchange."""

    internal: ClassVar[bool] = True
    type: Literal["letter"] = "letter"
    letter_id: str
    author: str
    title: str
    body: str
    ref_listing_id: str | None = None
    ref_offer_id: str | None = None


class Text(Payload):
    """Free text between agents, for a user's own protocols."""

    type: Literal["text"] = "text"
    text: str


_PACKED: Final = (
    *("sender", "number", "recipient", "channel", "sent_at"),
    *("in_reply_to", "cause", "root", "trace"),
)
_about = attrgetter(*_PACKED)


def pack(messages: Iterable[Message]) -> bytes:
    """Encodes a batch of messages for another process (msgpack of plain values, no pickle)."""
    return msgpack.packb(  # type: ignore[no-any-return]
        [(*_about(m), m.payload.model_dump(warnings=False)) for m in messages]
    )


def unpack(batch: bytes) -> list[Message]:
    """Decodes :func:`pack`.

    Raises:
        HanseError: the bytes are not a batch, or a payload does not fit its model.
    """
    try:
        rows = msgpack.unpackb(batch, strict_map_key=False)
        return [
            Message(
                **dict(zip(_PACKED, about, strict=True)),
                payload=payload_class(payload["type"]).model_validate(payload),
            )
            for *about, payload in rows
        ]
    except HanseError:
        raise
    except Exception as error:
        raise HanseError(f"a batch of messages could not be read: {error}") from error
