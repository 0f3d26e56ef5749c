-- incident: A client drops the usage of a reply, and the ledger shows less than the provider
--   bills. (Some embedders report no usage.)
select campaign, call_id, role, endpoint, llm_id
from main.llm_calls
where cause is null and role <> 'embedder' and prompt_tokens is null and completion_tokens is null
