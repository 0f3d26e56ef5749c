-- question: Which failure reasons hold of an attempt? A judge may add reasons to the code's, never
--   take one away: a reason holds when any source says so.
-- grain: campaign, attempt_id, name
-- units: name is a failure reason (R1...); only those that hold have a row.
select distinct campaign, attempt_id, name
from main.labels
where attempt_id <> '' and value = 1
