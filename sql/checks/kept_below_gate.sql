-- incident: A variant that no attempt solved is kept, though nothing shows that it can be solved
--   at all.
select campaign, item_id, solved, scored
from main.selections
where solved < 1
