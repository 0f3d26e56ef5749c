-- incident: An item is compared whose gold's calls were not recorded: it has no apps, and is
--   missing from the shares of items that need five. (A seed may be shipped without a gold.)
select sets.campaign, sets.item_set, sets.item_id
from analysis.item_sets as sets
join main.items as items on items.item_id = sets.item_id and items.gold is not null
anti join main.gold_calls as calls on calls.item_id = sets.item_id
