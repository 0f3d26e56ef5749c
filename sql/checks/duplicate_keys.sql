-- incident: Two loaders insert the same step, and every count over steps is doubled. No primary
--   key stands in the way (a DuckLake has none).
select 'steps' as found_in, concat_ws(' ', campaign, step) as key, count(*) as times
from main.steps
group by campaign, step
having count(*) > 1
union all
select 'attempts', concat_ws(' ', campaign, item_id, solver, measurement, repeat), count(*)
from main.attempts
group by campaign, item_id, solver, measurement, repeat
having count(*) > 1
union all
select 'scores', concat_ws(' ', campaign, item_id, solver, measurement), count(*)
from main.scores
group by campaign, item_id, solver, measurement
having count(*) > 1
union all
select 'items', item_id, count(*)
from main.items
group by item_id
having count(*) > 1
union all
select 'llm_calls', concat_ws(' ', campaign, call_id), count(*)
from main.llm_calls
group by campaign, call_id
having count(*) > 1
