-- question: How often does the suite's own reward miss something: harm beside a solved item, or a failure
--   that is the simulated user's?
-- grain: campaign, measurement
-- units: counts of attempts. solved: by the suite's own reward; compared: of these, the ones whose final
--   state was compared with the gold's; collateral: compared, and with effects that the gold's has not;
--   unlike_gold: compared, and effects are lacking or too many; collateral_share 0-1 of the compared. The
--   last three are NULL where none was compared. failed: scored and not solved; user_failures:
--   those that the judge of the item lays at the user's door (search only), NULL where no judge was asked
--   about a dialogue of this measurement.
with ended as (
    select
        campaign,
        measurement,
        item_id,
        repeat,
        outcome,
        json_array_length(difference, '$.missing') as missing,
        json_array_length(difference, '$.unexpected') as unexpected
    from main.attempts
    where outcome <> 'unscored'
),
blamed as (
    select
        campaign,
        item_id,
        'search' as measurement,
        list_distinct(flatten(list(user_failures))) as repeats
    from main.verdicts
    where user_failures is not null
    group by campaign, item_id
)
select
    ended.campaign,
    ended.measurement,
    count(*) filter (where outcome = 'solved') as solved,
    count(unexpected) filter (where outcome = 'solved') as compared,
    sum((unexpected > 0)::int) filter (where outcome = 'solved')::bigint as collateral,
    sum((missing + unexpected > 0)::int) filter (where outcome = 'solved')::bigint as unlike_gold,
    collateral / compared as collateral_share,
    count(*) filter (where outcome = 'failed') as failed,
    case
        when count(blamed.repeats) > 0
            then count(*) filter (where outcome = 'failed' and list_contains(blamed.repeats, ended.repeat))
    end as user_failures
from ended
left join blamed using (campaign, item_id, measurement)
group by ended.campaign, ended.measurement
order by ended.campaign, ended.measurement
