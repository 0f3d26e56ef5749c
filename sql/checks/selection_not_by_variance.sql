-- incident: Selection by a rounded rate keeps a variant that is always solved. It is by k(n-k) as
--   an integer, greater than zero, and the same for all that a root keeps.
select campaign, item_id, root, solved, scored, variance_count
from main.selections
qualify variance_count <> solved * (scored - solved)
    or variance_count <= 0
    or count(distinct variance_count) over (partition by campaign, root) > 1
