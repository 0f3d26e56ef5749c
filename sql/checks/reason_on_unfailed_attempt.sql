-- incident: Failure reasons are given to solved attempts or to items; the feature and failure grid
--   is then covered by failures that never happened.
select labels.campaign, labels.item_id, labels.attempt_id, labels.name, tries.outcome
from main.labels as labels
left join main.attempts as tries
    on tries.campaign = labels.campaign
    and tries.attempt_id = labels.attempt_id
where labels.name in (select reason from analysis.reason_names)
    and tries.outcome is distinct from 'failed'
