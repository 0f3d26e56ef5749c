-- incident: A step yielded a variant that verify had not passed, and solvers were paid for an item whose
--   gold fails.
with passed as (
    select campaign, item_id, bool_and(passed) as all_passed
    from main.checks
    group by campaign, item_id
)
select steps.campaign, steps.step, steps.child, passed.all_passed
from main.steps as steps
left join passed on passed.campaign = steps.campaign and passed.item_id = steps.child
where steps.child is not null and not coalesce(passed.all_passed, false)
