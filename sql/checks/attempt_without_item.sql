-- incident: A loader killed between two batches leaves attempts whose item was never loaded; every
--   mart that joins items then loses them without a word.
select campaign, attempt_id, item_id
from main.attempts
where item_id not in (select item_id from main.items)
