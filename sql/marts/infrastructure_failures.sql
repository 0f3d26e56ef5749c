-- question: What went wrong that is nobody's fault but the machinery's?
-- grain: campaign, source, cause
-- units: source 'attempt' is an attempt left unscored, 'llm_call' a try of a call that got no reply, also
--   where the next try did ('Interrupted': the process ended in its middle); share 0-1 of all attempts or
--   tries of the campaign.
with events as (
    select campaign, 'attempt' as source, outcome = 'unscored' as failed, cause
    from main.attempts
    union all
    select campaign, 'llm_call' as source, cause is not null as failed, cause
    from main.llm_calls
),
totals as (
    select campaign, source, count(*) as total
    from events
    group by campaign, source
)
select
    events.campaign,
    events.source,
    events.cause,
    count(*) as failures,
    count(*) / any_value(totals.total) as share
from events
join totals using (campaign, source)
where events.failed
group by events.campaign, events.source, events.cause
order by events.campaign, count(*) desc, events.source, events.cause
