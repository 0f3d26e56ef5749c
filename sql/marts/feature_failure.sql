-- question: Which kinds of failure were seen on which kinds of items?
-- grain: campaign, item_set, measurement, feature, reason
-- units: failed_attempts counts attempts on an item with the feature that failed for the reason; an
--   attempt may count in several of the 60 cells. covered: at least one. Compare the coverage of two
--   sets in feature_failure_coverage, which allows for one set having failed more often.
with grids as (
    select distinct sets.campaign, sets.item_set, tries.measurement
    from analysis.item_sets as sets
    join main.attempts as tries using (campaign, item_id)
    where tries.measurement <> 'confirmation'
),
cells as (
    select
        failed.campaign,
        failed.item_set,
        failed.measurement,
        features.name as feature,
        reasons.name as reason,
        count(*) as failed_attempts
    from analysis.failed_attempts as failed
    join analysis.item_labels as features
        on features.campaign = failed.campaign
        and features.item_id = failed.item_id
        and features.value = 1
    join analysis.attempt_labels as reasons
        on reasons.campaign = failed.campaign
        and reasons.attempt_id = failed.attempt_id
    group by failed.campaign, failed.item_set, failed.measurement, features.name, reasons.name
)
select
    grids.campaign,
    grids.item_set,
    grids.measurement,
    features.feature,
    features.feature_name,
    reasons.reason,
    reasons.reason_name,
    coalesce(cells.failed_attempts, 0) as failed_attempts,
    cells.failed_attempts is not null as covered
from grids
cross join analysis.feature_names as features
cross join analysis.reason_names as reasons
left join cells
    on cells.campaign = grids.campaign
    and cells.item_set = grids.item_set
    and cells.measurement = grids.measurement
    and cells.feature = features.feature
    and cells.reason = reasons.reason
order by
    grids.campaign,
    grids.item_set desc,
    grids.measurement,
    length(features.feature),
    features.feature,
    reasons.reason
