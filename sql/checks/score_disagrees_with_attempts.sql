-- incident: Attempts are made again while their old score stays; the selection then stands on
--   numbers that no attempt supports.
with counted as (
    select
        campaign,
        item_id,
        solver,
        measurement,
        count(*) filter (where outcome = 'solved') as solved,
        avg(calls) filter (where outcome = 'solved') as mean_solved_length
    from main.attempts
    group by campaign, item_id, solver, measurement
)
select
    scores.campaign,
    scores.item_id,
    scores.solver,
    scores.measurement,
    scores.solved,
    coalesce(counted.solved, 0) as attempts_solved,
    scores.mean_solved_length,
    counted.mean_solved_length as attempts_mean_solved_length,
    scores.gate
from main.scores as scores
left join counted using (campaign, item_id, solver, measurement)
where scores.solved <> coalesce(counted.solved, 0)
    or scores.gate <> (scores.solved > 0)
    or (scores.mean_solved_length is null) <> (counted.mean_solved_length is null)
    or abs(scores.mean_solved_length - counted.mean_solved_length) > 1e-9
