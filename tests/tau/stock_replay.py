"""Stock τ-bench on an exported tasks.json: its loader, orchestrator and evaluator, scripted participants.

    python stock_replay.py TASKS_JSON

Run by the interpreter of τ-bench's environment; nothing of Turtle is imported. Prints one reward a task.
"""

import json
import sys

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
from tau2.domains.telecom.environment import get_environment, load_tasks
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
from tau2.orchestrator.orchestrator import Orchestrator
from tau2.user.user_simulator import UserSimulator


def scripted(task):
    """A pair of participants that share one queue of the gold's calls."""
    left = list(task.evaluation_criteria.actions)

    def said(kind, side, words):
        if left and left[0].requestor == side:
            action = left.pop(0)
            call = ToolCall(
                id=action.action_id, name=action.name, arguments=action.arguments, requestor=side
            )
            return kind(role=side, tool_calls=[call], cost=0.0)
        return kind(role=side, content=words(), cost=0.0)

    class Agent(LLMAgent):
        def generate_next_message(self, message, state):
            return said(AssistantMessage, "assistant", lambda: "Go on."), state

    class User(UserSimulator):
        def generate_next_message(self, message, state):
            words = "Go on." if left else "###STOP###"
            return said(UserMessage, "user", lambda: words), state

    return Agent, User


def replayed(task) -> float:
    """The stock reward of a task whose gold is played."""
    environment = get_environment()
    agent, user = scripted(task)
    run = Orchestrator(
        domain="telecom",
        agent=agent(environment.get_tools(), environment.get_policy(), llm="scripted"),
        user=user(environment.get_user_tools(), str(task.user_scenario), "scripted", {}),
        environment=environment,
        task=task,
    ).run()
    return evaluate_simulation(run, task, EvaluationType.ALL, False, "telecom").reward


def main() -> None:
    """See the module's docstring."""
    print(json.dumps({task.id: replayed(task) for task in load_tasks(sys.argv[1])}))


if __name__ == "__main__":
    main()
