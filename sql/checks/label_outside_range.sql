-- incident: A judge answers difficulty 4, or a feature that is not on the list; means and shares
--   take it in.
select campaign, item_id, attempt_id, name, value, source
from main.labels
where case
    when name in ('difficulty', 'interaction', 'reasoning') then value not in (1, 2, 3)
    when name in (select feature from analysis.feature_names) then value not in (0, 1)
    when name in (select reason from analysis.reason_names) then value not in (0, 1)
    else true
end
