-- incident: A limit is reached in the turn in which the item is solved, and the attempt is stored
--   as solved with a cause; tables of causes then count solved attempts as failures.
select campaign, attempt_id, outcome, cause
from main.attempts
where (outcome = 'solved') <> (cause is null)
