-- question: How many seeds were offered, solvable, searched, and led to variants that survived and were kept?
-- grain: campaign
-- units: counts of seeds. solvable: at least one attempt of the search's solver solved it; searched: at
--   least one step; surviving: at least one accepted variant that an attempt solved; selected: at least
--   one selected by variance; evolved: at least one kept, that is also judged valid. evolved_share 0-1 of
--   those offered.
with solvable as (
    select distinct campaign, item_id
    from main.scores
    where gate and measurement = 'search'
),
searched as (
    select distinct campaign, root
    from main.steps
),
surviving as (
    select distinct steps.campaign, steps.root
    from main.steps as steps
    join main.scores as scores
        on scores.campaign = steps.campaign
        and scores.item_id = steps.child
    where scores.gate and scores.measurement = 'search'
),
selected as (
    select distinct campaign, root
    from main.selections
),
evolved as (
    select distinct campaign, root
    from analysis.item_sets
    where item_set = 'evolved'
)
select
    seeds.campaign,
    count(*) as offered,
    count(solvable.item_id) as solvable,
    count(searched.root) as searched,
    count(surviving.root) as surviving,
    count(selected.root) as selected,
    count(evolved.root) as evolved,
    count(evolved.root) / count(*) as evolved_share
from main.seeds as seeds
left join solvable on solvable.campaign = seeds.campaign and solvable.item_id = seeds.item_id
left join searched on searched.campaign = seeds.campaign and searched.root = seeds.item_id
left join surviving on surviving.campaign = seeds.campaign and surviving.root = seeds.item_id
left join selected on selected.campaign = seeds.campaign and selected.root = seeds.item_id
left join evolved on evolved.campaign = seeds.campaign and evolved.root = seeds.item_id
group by seeds.campaign
order by seeds.campaign
