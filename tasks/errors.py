"""Errors, named after the boundary that was crossed, and the closed lists of causes.

Infrastructure trouble raises one of these and is nobody's failure; what a solver or a proposer did wrong
is data and takes a cause from the lists below.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # set-up raises our errors before anything is installed
    from pydantic import ValidationError


class TurtleError(Exception):
    """Base of all our errors. The message is one line for the user: what, where, what to do."""


class InputError(TurtleError):
    """What the user gave is wrong (plan, suite, path, SQL). The command ends with exit code 2."""


def faults(error: ValidationError) -> str:
    """What a validation found, each field with its fault, in one line."""
    return "; ".join(
        f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
        for fault in error.errors()
    )


class ProviderError(TurtleError):
    """A model's endpoint failed after its client's own retries. Raised by tasks/llm only."""


class ProviderRefused(ProviderError):
    """A permanent answer (unknown key, model or endpoint): asking again is useless."""


class CanaryFault(InputError):
    """A model cannot play its role. Found by the canary, before a campaign pays for it."""


class BudgetSpent(TurtleError):
    """The next call may cost more than what is left of the budget. The command ends with exit code 3."""


class SimulatorError(TurtleError):
    """The simulator process failed or died. The stage raises, Prefect retries it with a new process."""


class SessionLost(SimulatorError):
    """One simulator session is gone: killed at its deadline or aborted by the code that it ran."""


class SpoolError(TurtleError):
    """A spool file could not be written or does not hold what its name says."""


class Rejection(StrEnum):
    """Why a proposed edit is not an item. Stored in steps.rejection."""

    REFUSED = "refused"
    UNPARSEABLE_REPLY = "unparseable_reply"
    TOO_LONG = "too_long"
    GOLD_SYNTAX = "gold_syntax"
    GOLD_ERROR = "gold_error"
    GOLD_INCOMPLETE = "gold_incomplete"
    GOLD_FAILS_OWN_GRADE = "gold_fails_own_grade"
    NO_EFFECT = "no_effect"
    DO_NOTHING_PASSES = "do_nothing_passes"
    PADDED = "padded"
    NEAR_COPY_OF_PARENT = "near_copy_of_parent"
    NEAR_COPY_OF_SIBLING = "near_copy_of_sibling"
    HARD_CODED = "hard_coded"
    ANSWER_IN_INSTRUCTION = "answer_in_instruction"
    NOT_EDITABLE = "not_editable"
    UNKNOWN_KEY = "unknown_key"
    WRONG_TYPE = "wrong_type"
    DANGLING_DOCUMENT = "dangling_document"
    UNKNOWN_TOOL = "unknown_tool"
    WRONG_BASIS = "wrong_basis"
    SETUP_ERROR = "setup_error"
    UNREACHABLE_VALUE = "unreachable_value"


class AttemptCause(StrEnum):
    """Why a scored attempt is not solved. Stored in attempts.cause."""

    WRONG_STATE = "wrong_state"
    WRONG_ANSWER = "wrong_answer"
    NOT_COMPLETED = "not_completed"
    NO_ACTION = "no_action"
    TURN_LIMIT = "turn_limit"
    CALL_LIMIT = "call_limit"
    OBSERVATION_LIMIT = "observation_limit"
    TOKEN_LIMIT = "token_limit"
    TIME_LIMIT = "time_limit"
    CELL_TIME_LIMIT = "cell_time_limit"
    EARLY_STOP = "early_stop"
    """The user of a dialogue ended it, nothing wrong was done, and something was left undone."""
    TRANSFERRED = "transferred"
    OUT_OF_SCOPE = "out_of_scope"
    TOOL_ERRORS = "tool_errors"
    UNUSABLE_REPLY = "unusable_reply"
    UNUSABLE_USER = "unusable_user"
    """The model that plays the user gave no reply that the simulator can take."""
