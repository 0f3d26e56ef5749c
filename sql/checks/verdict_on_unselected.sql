-- incident: A judge is asked about variants that were not selected: calls are paid for nothing,
--   and the share of valid verdicts is that of another population.
select campaign, item_id, judge
from main.verdicts
anti join main.selections using (campaign, item_id)
