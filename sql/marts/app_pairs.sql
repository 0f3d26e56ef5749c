-- question: Which apps are needed together by one item?
-- grain: campaign, item_set, app_a, app_b
-- units: items counts items whose gold touches both apps; covered: at least one. A row for every pair
--   of the apps seen in either set, so that the number of possible pairs is the number of rows of a
--   set: 9 apps give 36.
with apps as (
    select sets.campaign, sets.item_set, sets.item_id, apps.app
    from analysis.item_sets as sets
    join analysis.item_apps as apps using (item_id)
),
seen as (
    select distinct campaign, app
    from apps
),
together as (
    select a.campaign, a.item_set, a.app as app_a, b.app as app_b, count(*) as items
    from apps as a
    join apps as b
        on b.campaign = a.campaign
        and b.item_set = a.item_set
        and b.item_id = a.item_id
        and b.app > a.app
    group by a.campaign, a.item_set, a.app, b.app
),
sets as (
    select distinct campaign, item_set
    from analysis.item_sets
)
select
    sets.campaign,
    sets.item_set,
    a.app as app_a,
    b.app as app_b,
    coalesce(together.items, 0) as items,
    together.items is not null as covered
from sets
join seen as a on a.campaign = sets.campaign
join seen as b on b.campaign = sets.campaign and b.app > a.app
left join together
    on together.campaign = sets.campaign
    and together.item_set = sets.item_set
    and together.app_a = a.app
    and together.app_b = b.app
order by sets.campaign, sets.item_set desc, items desc, app_a, app_b
