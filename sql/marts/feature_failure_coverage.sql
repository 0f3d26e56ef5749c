-- question: How many cells of the feature and failure grid are covered, at an equal number of failures?
-- grain: campaign, item_set, measurement
-- units: cells and covered are counts; rarefied_covered is the number of cells expected to be covered
--   by rarefied_to failed attempts drawn without return, which is the smaller set's number of them.
with failures as (
    select campaign, item_set, measurement, count(*) as failed_attempts
    from analysis.failed_attempts
    group by campaign, item_set, measurement
),
cells as (
    select
        grid.campaign,
        grid.item_set,
        grid.measurement,
        grid.covered,
        grid.failed_attempts as n,
        coalesce(failures.failed_attempts, 0) as total,
        min(coalesce(failures.failed_attempts, 0))
            over (partition by grid.campaign, grid.measurement) as drawn
    from analysis.feature_failure as grid
    left join failures using (campaign, item_set, measurement)
)
select
    campaign,
    item_set,
    measurement,
    count(*) as cells,
    count(*) filter (where covered) as covered,
    any_value(total) as failed_attempts,
    any_value(drawn) as rarefied_to,
    -- 1 - C(total - n, drawn) / C(total, drawn), the chance that a draw meets the cell
    sum(case
        when total - n < drawn then 1.0::DOUBLE
        else 1 - exp(
            lgamma(total - n + 1) + lgamma(total - drawn + 1)
            - lgamma(total - n - drawn + 1) - lgamma(total + 1)
        )
    end) as rarefied_covered
from cells
group by campaign, item_set, measurement
order by campaign, item_set desc, measurement
