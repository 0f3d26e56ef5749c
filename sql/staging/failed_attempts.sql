-- question: Which attempts on the compared items failed? Those that only confirm are left out: nobody reads
--   them for reasons.
-- grain: campaign, item_set, attempt_id
-- units: measurement says why the attempt was made; estimates of two are never mixed.
select sets.campaign, sets.item_set, tries.measurement, tries.item_id, tries.attempt_id
from analysis.item_sets as sets
join main.attempts as tries using (campaign, item_id)
where tries.outcome = 'failed' and tries.measurement <> 'confirmation'
