"""The parts of the offline model: a simulation of language models in five roles, never one of them."""
