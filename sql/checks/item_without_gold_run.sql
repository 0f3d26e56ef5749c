-- incident: An item is compared whose gold's calls were not recorded: it has no apps, and is
--   missing from the shares of items that need five.
select sets.campaign, sets.item_set, sets.item_id
from analysis.item_sets as sets
anti join main.gold_calls as calls on calls.item_id = sets.item_id
