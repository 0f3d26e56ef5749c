-- incident: A step yields a variant that verify did not pass, and solvers are paid for an item whose
--   own gold fails. (Near-copy gates do not count: they are about the step as well, and where a later
--   step proposes the same item again, its failed gate replaces the passed one.)
with passed as (
    select campaign, item_id, bool_and(passed) as all_passed
    from main.checks
    where not starts_with("check", 'near_copy')
    group by campaign, item_id
)
select steps.campaign, steps.step, steps.child, passed.all_passed
from main.steps as steps
left join passed on passed.campaign = steps.campaign and passed.item_id = steps.child
where steps.child is not null and not coalesce(passed.all_passed, false)
