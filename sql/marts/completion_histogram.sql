-- question: How often are items solved: how many always, how many never, how many in between?
-- grain: campaign, item_set, solver, measurement, bin
-- units: bin is the completion rate (0-1) to the nearest tenth, where 0.0 holds only the items that
--   were never solved and 1.0 only those that always were; share 0-1 of the scored items of the set.
--   never_share, always_share and mean_completion_rate are of the whole set, repeated in each row.
with rates as (
    select
        sets.campaign,
        sets.item_set,
        scores.solver,
        scores.measurement,
        scores.completion_rate as rate,
        case
            when scores.completion_rate in (0, 1) then (scores.completion_rate * 10)::BIGINT
            else greatest(1, least(9, round(scores.completion_rate * 10)))::BIGINT
        end as tenths
    from analysis.item_sets as sets
    join main.scores as scores using (campaign, item_id)
    where scores.completion_rate is not null
),
totals as (
    select
        campaign,
        item_set,
        solver,
        measurement,
        count(*) as scored_items,
        avg(rate) as mean_completion_rate,
        count(*) filter (where tenths = 0) / count(*) as never_share,
        count(*) filter (where tenths = 10) / count(*) as always_share
    from rates
    group by campaign, item_set, solver, measurement
),
counted as (
    select campaign, item_set, solver, measurement, tenths, count(*) as items
    from rates
    group by campaign, item_set, solver, measurement, tenths
)
select
    totals.campaign,
    totals.item_set,
    totals.solver,
    totals.measurement,
    bins.tenths / 10 as bin,
    coalesce(counted.items, 0) as items,
    coalesce(counted.items, 0) / totals.scored_items as share,
    totals.scored_items,
    totals.never_share,
    totals.always_share,
    totals.mean_completion_rate
from totals
cross join range(11) as bins(tenths)
left join counted
    on counted.campaign = totals.campaign
    and counted.item_set = totals.item_set
    and counted.solver = totals.solver
    and counted.measurement = totals.measurement
    and counted.tenths = bins.tenths
order by
    totals.campaign,
    totals.measurement desc,
    totals.solver,
    totals.item_set desc,
    bins.tenths
