-- question: How far is a campaign?
-- grain: campaign
-- units: counts, attempts and calls of all measurements together; planned_steps from the plan, NULL where it does not say; cost_usd is the sum of the
--   known prices, unpriced_calls the number of replies whose price is unknown.
with seeds as (
    select campaign, count(*) as seeds
    from main.seeds
    group by campaign
),
steps as (
    select
        campaign,
        count(*) as steps,
        count(child) as accepted,
        count(rejection) as rejected
    from main.steps
    group by campaign
),
tries as (
    select
        campaign,
        count(*) as attempts,
        count(*) filter (where outcome = 'solved') as solved,
        count(*) filter (where outcome = 'unscored') as unscored
    from main.attempts
    group by campaign
),
calls as (
    select
        campaign,
        count(*) as llm_calls,
        sum(cost_usd) as cost_usd,
        count(*) filter (where cause is null and cost_usd is null) as unpriced_calls
    from main.llm_calls
    group by campaign
),
selected as (
    select campaign, count(*) as selected
    from main.selections
    group by campaign
),
kept as (
    select campaign, count(*) as kept
    from analysis.item_sets
    where item_set = 'evolved'
    group by campaign
)
select
    campaigns.campaign,
    campaigns.simulated,
    coalesce(seeds.seeds, 0) as seeds,
    try_cast(campaigns.plan ->> '$.steps' as bigint)
        * case when campaigns.plan ->> '$.steps_scope' = 'seed' then coalesce(seeds.seeds, 0) else 1 end
        as planned_steps,
    coalesce(steps.steps, 0) as steps,
    coalesce(steps.accepted, 0) as accepted,
    coalesce(steps.rejected, 0) as rejected,
    coalesce(tries.attempts, 0) as attempts,
    coalesce(tries.solved, 0) as solved,
    coalesce(tries.unscored, 0) as unscored,
    coalesce(calls.llm_calls, 0) as llm_calls,
    calls.cost_usd,
    coalesce(calls.unpriced_calls, 0) as unpriced_calls,
    coalesce(selected.selected, 0) as selected,
    coalesce(kept.kept, 0) as kept
from main.campaigns as campaigns
left join seeds using (campaign)
left join steps using (campaign)
left join tries using (campaign)
left join calls using (campaign)
left join selected using (campaign)
left join kept using (campaign)
order by campaigns.campaign
