-- incident: A step yields a variant that verify did not pass, and solvers are paid for an item whose
--   own gold fails.
with passed as (
    select campaign, item_id, examined, bool_and(passed) as all_passed
    from main.checks
    group by campaign, item_id, examined
)
select steps.campaign, steps.step, steps.child, passed.all_passed
from main.steps as steps
left join passed
    on passed.campaign = steps.campaign
    and passed.item_id = steps.child
    and passed.examined = 'step ' || steps.step
where steps.child is not null and not coalesce(passed.all_passed, false)
