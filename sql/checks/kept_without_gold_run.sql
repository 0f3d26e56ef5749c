-- incident: A variant was kept whose gold's calls had not been recorded; it had no apps, and the share of
--   items that need five apps was too small.
select sets.campaign, sets.item_set, sets.item_id
from analysis.item_sets as sets
anti join main.gold_calls as calls on calls.item_id = sets.item_id
