"""The small world: people, their accounts in nine apps, and what they have done there so far."""
