-- question: What does a kept variant cost, and which role spends it?
-- grain: campaign, role
-- units: role 'all' is the sum of the roles. A call counts once for each time that it was tried; tokens are
--   counts; cached_share 0-1 of the prompt tokens, NULL where no provider says. usd US dollars, NULL where the
--   price of a reply is unknown; unanswered_most_usd the most that tries without a reply can have cost
--   beside cost_usd. Per kept variant, NULL where none is kept.
--   Tries for confirmations count like those for the search.
with calls as (
    select
        campaign,
        coalesce(role, 'all') as role,
        count(*) as llm_calls,
        count(*) filter (where cause is not null) as failed_calls,
        sum(prompt_tokens)::BIGINT as prompt_tokens,
        sum(cached_tokens)::BIGINT as cached_tokens,
        sum(completion_tokens)::BIGINT as completion_tokens,
        sum(reasoning_tokens)::BIGINT as reasoning_tokens,
        case
            when count(*) filter (where cause is null and cost_usd is null) = 0
                then coalesce(sum(cost_usd), 0)
        end as cost_usd,
        sum(most_usd) filter (where cause is not null) as unanswered_most_usd
    from main.llm_calls
    group by grouping sets ((campaign), (campaign, role))
),
kept as (
    select campaign, count(*) as kept
    from analysis.item_sets
    where item_set = 'evolved'
    group by campaign
)
select
    calls.campaign,
    calls.role,
    calls.llm_calls,
    calls.failed_calls,
    calls.prompt_tokens,
    calls.cached_tokens,
    calls.completion_tokens,
    calls.reasoning_tokens,
    calls.cached_tokens / nullif(calls.prompt_tokens, 0) as cached_share,
    calls.cost_usd,
    calls.unanswered_most_usd,
    coalesce(kept.kept, 0) as kept,
    calls.completion_tokens / kept.kept as completion_tokens_per_kept,
    calls.cost_usd / kept.kept as cost_usd_per_kept
from calls
left join kept using (campaign)
order by calls.campaign, calls.role
