-- incident: A variant is kept for the luck of its ten attempts, and its estimate is made of the same ten.
--   An attempt belongs to one measurement; a selection stands on the search alone, a confirmation on
--   fresh attempts alone.
with counted as (
    select
        campaign,
        item_id,
        solver,
        measurement,
        count(*) filter (where outcome = 'solved') as solved,
        count(*) filter (where outcome <> 'unscored') as scored
    from main.attempts
    group by campaign, item_id, solver, measurement
)
select 'attempts' as found_in, campaign, min(item_id) as item_id, attempt_id as detail
from main.attempts
group by campaign, attempt_id
having count(distinct measurement) > 1
union all
select 'selections', chosen.campaign, chosen.item_id, 'not the counts of the search'
from main.selections as chosen
anti join counted
    on counted.campaign = chosen.campaign
    and counted.item_id = chosen.item_id
    and counted.measurement = 'search'
    and counted.solved = chosen.solved
    and counted.scored = chosen.scored
union all
select 'confirmations', fresh.campaign, fresh.item_id, 'not the counts of the confirmation'
from main.confirmations as fresh
anti join counted
    on counted.campaign = fresh.campaign
    and counted.item_id = fresh.item_id
    and counted.solver = fresh.solver
    and counted.measurement = 'confirmation'
    and counted.solved = fresh.solved
    and counted.scored = fresh.scored
