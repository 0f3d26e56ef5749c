-- incident: Attempts that the machinery broke off are counted as failed, and an outage makes items
--   look hard. A score's counts must be those of its attempts, unscored ones apart.
with counted as (
    select
        campaign,
        item_id,
        solver,
        measurement,
        count(*) filter (where outcome <> 'unscored') as scored,
        count(*) filter (where outcome = 'unscored') as unscored
    from main.attempts
    group by campaign, item_id, solver, measurement
)
select
    scores.campaign,
    scores.item_id,
    scores.solver,
    scores.measurement,
    scores.scored,
    coalesce(counted.scored, 0) as attempts_scored,
    scores.unscored,
    coalesce(counted.unscored, 0) as attempts_unscored
from main.scores as scores
left join counted using (campaign, item_id, solver, measurement)
where scores.scored <> coalesce(counted.scored, 0)
    or scores.unscored <> coalesce(counted.unscored, 0)
