"""Stock τ-bench on our items: what its own runner does for a gold and for a scripted dialogue.

Telecom is the shipped domain. Banking is not shipped with the runner: there its own orchestrator and
evaluator stand on our tools, and each environment reads its files and builds its index anew, as the official
repository has it. Imported by tau_in_process.py, in the interpreter of τ-bench's environment.
"""

from typing import Any

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
from tau2.data_model.simulation import SimulationRun, TerminationReason
from tau2.domains.telecom.environment import get_environment
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
from tau2.orchestrator.orchestrator import Orchestrator
from tau2.registry import registry
from tau2.user.user_simulator import UserSimulator


class Stock:
    """The stock runner of one domain."""

    def __init__(self, domain: Any) -> None:
        """Of telecom the shipped domain; of banking one that is registered here."""
        if domain.suite == "tau-telecom":
            self._name, self._environment = "telecom", lambda documents: get_environment()
            return
        retrieval = domain.suite.rpartition("-")[2]
        self._name = "banking_knowledge"
        self._environment = lambda documents: type(domain)(retrieval).environment(documents)
        registry.register_domain(lambda solo_mode=False: self._environment(()), self._name)

    def checks(self, item: Any) -> bool:
        """The gold's calls on a fresh environment, and their reward."""
        environment, task = self._environment(item.documents), item.task
        state = task.initial_state
        environment.set_state(
            state and state.initialization_data, state and state.initialization_actions, []
        )
        messages: list[Any] = []
        for action in item.actions:
            call = _call(action)
            said = UserMessage if action.requestor == "user" else AssistantMessage
            answer = environment.get_response(call)
            messages += [said(role=action.requestor, tool_calls=[call]), answer]
        run = SimulationRun(
            id="gold",
            task_id=task.id,
            start_time="",
            end_time="",
            duration=0.0,
            termination_reason=TerminationReason.USER_STOP,
            messages=messages,
        )
        return self._solved(run, task)

    def plays(self, item: Any) -> bool:
        """A dialogue of two scripted participants, and its reward."""
        environment = self._environment(item.documents)
        agent, user = _participants(item.actions)
        run = Orchestrator(
            domain=self._name,
            agent=agent(environment.get_tools(), environment.get_policy(), llm="scripted"),
            user=user(environment.get_user_tools(), str(item.task.user_scenario), "scripted", {}),
            environment=environment,
            task=item.task,
        ).run()
        return self._solved(run, item.task)

    def _solved(self, run: SimulationRun, task: Any) -> bool:
        return evaluate_simulation(run, task, EvaluationType.ALL, False, self._name).reward == 1.0


def _call(action: Any) -> ToolCall:
    return ToolCall(
        id="c", name=action.name, arguments=action.arguments, requestor=action.requestor
    )


def _participants(actions: Any) -> tuple[type[LLMAgent], type[UserSimulator]]:
    """A pair that shares one queue of the gold's calls."""
    left = list(actions)

    def said(kind: Any, side: str, words: str) -> Any:
        if left and left[0].requestor == side:
            return kind(role=side, tool_calls=[_call(left.pop(0))], cost=0.0)
        return kind(role=side, content=words, cost=0.0)

    class Agent(LLMAgent):
        def generate_next_message(self, message: Any, state: Any) -> Any:
            return said(AssistantMessage, "assistant", "Go on."), state

    class User(UserSimulator):
        def generate_next_message(self, message: Any, state: Any) -> Any:
            return said(UserMessage, "user", "Go on." if left else "###STOP###"), state

    return Agent, User
