-- incident: A judge was asked about variants that had not been selected: calls were paid for nothing,
--   and the share of valid verdicts was that of another population.
select campaign, item_id, judge
from main.verdicts
anti join main.selections using (campaign, item_id)
