-- question: How many apps does an item need? (The paper's "52 % and 13 % need 5 and 6 apps" is read as
--   shares of the evolved items whose gold touches exactly 5 and exactly 6.)
-- grain: campaign, item_set, apps
-- units: apps counts the apps that the gold touches; share 0-1 of the items whose gold run is on
--   record.
with counted as (
    select sets.campaign, sets.item_set, sets.item_id, count(apps.app) as apps
    from analysis.item_sets as sets
    semi join main.gold_calls as calls on calls.item_id = sets.item_id
    left join analysis.item_apps as apps on apps.item_id = sets.item_id
    group by sets.campaign, sets.item_set, sets.item_id
)
select
    campaign,
    item_set,
    apps,
    count(*) as items,
    count(*) / sum(count(*)) over (partition by campaign, item_set) as share
from counted
group by campaign, item_set, apps
order by campaign, item_set desc, apps
