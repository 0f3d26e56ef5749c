-- incident: A proposer's reply that cannot be parsed ends as a silent copy of the parent. A step
--   has a child or a cause of rejection, never both, and the child is not the parent.
select campaign, step, parent, child, rejection
from main.steps
where (child is null) = (rejection is null) or child = parent
