-- question: Why are proposed edits rejected, and is it the direction asked for that makes it so?
-- grain: campaign, rejection, direction
-- units: steps counts rejected edits; share 0-1 of all edits in that direction, accepted ones included.
with asked as (
    select campaign, direction, count(*) as edits
    from main.steps
    group by campaign, direction
)
select
    steps.campaign,
    steps.rejection,
    steps.direction,
    count(*) as steps,
    count(*) / any_value(asked.edits) as share
from main.steps as steps
join asked using (campaign, direction)
where steps.rejection is not null
group by steps.campaign, steps.rejection, steps.direction
order by steps.campaign, count(*) desc, steps.rejection, steps.direction
