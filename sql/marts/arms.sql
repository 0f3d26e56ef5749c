-- question: What did each campaign of a comparison spend, and what did it keep?
-- grain: campaign
-- units: counts. Campaigns of one `comparison` differ in arm (tasks/arms.py) and rng_seed alone.
--   search_attempts are those on seeds and variants that the search made, fresh ones apart. in_band: kept
--   variants whose fresh completion rate, by the solver of the search, lies in [0.4, 0.6]; confirmed: those
--   with a scored fresh attempt. Both NULL before the campaign is confirmed.
with searched as (
    select
        campaign,
        min(solver) as solver,
        count(*) as search_attempts,
        count(distinct item_id) as items
    from main.attempts
    where measurement = 'search'
    group by campaign
),
seeds as (
    select campaign, count(*) as seeds
    from main.seeds
    semi join main.scores using (campaign, item_id)
    group by campaign
),
steps as (
    select campaign, count(*) as steps
    from main.steps
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
    left(md5(
        json_merge_patch(campaigns.plan, '{"rng_seed":null,"search":{"arm":null}}')::varchar
        || campaigns.edition
    ), 10) as comparison,
    coalesce(campaigns.plan ->> '$.search.arm', 'full') as arm,
    try_cast(campaigns.plan ->> '$.rng_seed' as bigint) as rng_seed,
    campaigns.simulated,
    coalesce(seeds.seeds, 0) as seeds,
    coalesce(steps.steps, 0) as steps,
    searched.items - coalesce(seeds.seeds, 0) as variants,
    searched.search_attempts,
    coalesce(kept.kept, 0) as kept,
    fresh.confirmed,
    fresh.in_band
from main.campaigns as campaigns
join searched using (campaign)
left join seeds using (campaign)
left join steps using (campaign)
left join kept using (campaign)
left join main.replications as fresh
    on fresh.campaign = campaigns.campaign
    and fresh.solver = searched.solver
order by comparison, rng_seed, arm
