-- question: Which items are compared? 'original': the seeds a campaign was offered; 'evolved': the
--   variants it kept, that is selected by variance and called valid by every judge that was asked.
-- grain: campaign, item_id, item_set
-- units: root is the item_id of the seed a line descends from; a seed is its own root.
with approved as (
    select campaign, item_id
    from main.verdicts
    group by campaign, item_id
    having bool_and(coalesce(verdict = 'valid', false))
)
select campaign, item_id, 'original' as item_set, item_id as root
from main.seeds
union all
select chosen.campaign, chosen.item_id, 'evolved' as item_set, chosen.root
from main.selections as chosen
join approved using (campaign, item_id)
