-- incident: A client dropped the usage of streamed replies, and a campaign's ledger showed a tenth of
--   what the provider billed.
select campaign, call_id, role, endpoint, llm_id
from main.llm_calls
where cause is null and prompt_tokens is null and completion_tokens is null
