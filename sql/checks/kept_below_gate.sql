-- incident: A variant that no attempt had solved was kept; nothing shows that it can be solved at all.
select campaign, item_id, solved, scored
from main.selections
where solved < 1
