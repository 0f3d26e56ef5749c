-- incident: A limit was reached in the turn in which the item was solved, and the attempt was stored as
--   solved with a cause; tables of causes then counted solved attempts as failures.
select campaign, attempt_id, outcome, cause
from main.attempts
where (outcome = 'solved') <> (cause is null)
