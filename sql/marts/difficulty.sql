-- question: How difficult are the items before and after the evolution?
-- grain: campaign, item_set
-- units: shares 0-1 of the labelled items; mean_difficulty 1-3. NULL where no item is labelled.
with counted as (
    select
        sets.campaign,
        sets.item_set,
        count(*) as items,
        count(labels.value) as labelled,
        count(*) filter (where labels.value = 1) as difficulty_1,
        count(*) filter (where labels.value = 2) as difficulty_2,
        count(*) filter (where labels.value = 3) as difficulty_3,
        avg(labels.value) as mean_difficulty
    from analysis.item_sets as sets
    left join analysis.item_labels as labels
        on labels.campaign = sets.campaign
        and labels.item_id = sets.item_id
        and labels.name = 'difficulty'
    group by sets.campaign, sets.item_set
)
select
    campaign,
    item_set,
    items,
    labelled,
    difficulty_1,
    difficulty_2,
    difficulty_3,
    difficulty_1 / nullif(labelled, 0) as share_1,
    difficulty_2 / nullif(labelled, 0) as share_2,
    difficulty_3 / nullif(labelled, 0) as share_3,
    mean_difficulty
from counted
order by campaign, item_set desc
