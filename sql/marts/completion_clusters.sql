-- question: What completion rate was found for each compared item, and which items hang together?
-- grain: campaign, item_set, item_id, measurement
-- units: completion_rate 0-1, NULL where nothing was scored. Items of one cluster descend from one seed, or
--   from seeds that are alike (AppWorld: tasks of one generator); an interval counts them as one.
--   Attempts of the search's own solver; what another one confirms stands in replication.
select
    sets.campaign,
    sets.item_set,
    sets.item_id,
    scores.measurement,
    coalesce(seeds.cluster, sets.root) as cluster,
    scores.completion_rate
from analysis.item_sets as sets
join main.scores as scores
    on scores.campaign = sets.campaign
    and scores.item_id = sets.item_id
semi join main.scores as searched
    on searched.campaign = scores.campaign
    and searched.item_id = scores.item_id
    and searched.solver = scores.solver
    and searched.measurement = 'search'
left join main.seeds as seeds
    on seeds.campaign = sets.campaign
    and seeds.item_id = sets.root
order by sets.campaign, sets.item_set desc, scores.measurement, cluster, sets.item_id
