-- question: Which apps does an item's gold touch? Apps that every gold goes through (documents,
--   supervisor, administration) do not count. An item without a row either needs no other app or
--   has no gold run on record: gold_calls tells the two apart.
-- grain: item_id, app
-- units: names of apps as the suite spells them.
select distinct item_id, app
from main.gold_calls
where app not in ('api_docs', 'supervisor', 'admin')
