-- question: Which variants does a campaign keep, and what is known of each?
-- grain: campaign, item_id
-- units: completion_rate 0-1 over the search's attempts, for which the variant was chosen: biased towards
--   0.5, fresh attempts tell more. mean_solved_length in simulator API calls of solved attempts.
--   difficulty 1-3. apps: distinct apps of the gold; NULL where its run is not on record.
with apps as (
    select calls.item_id, count(distinct touched.app) as apps
    from main.gold_calls as calls
    left join analysis.item_apps as touched
        on touched.item_id = calls.item_id
        and touched.app = calls.app
    group by calls.item_id
)
select
    sets.campaign,
    sets.item_id,
    sets.root,
    scores.solved,
    scores.scored,
    scores.completion_rate,
    scores.mean_solved_length,
    labels.value as difficulty,
    apps.apps
from analysis.item_sets as sets
join main.scores as scores
    on scores.campaign = sets.campaign
    and scores.item_id = sets.item_id
    and scores.measurement = 'search'
left join analysis.item_labels as labels
    on labels.campaign = sets.campaign
    and labels.item_id = sets.item_id
    and labels.name = 'difficulty'
left join apps
    on apps.item_id = sets.item_id
where sets.item_set = 'evolved'
order by sets.campaign, sets.item_id
