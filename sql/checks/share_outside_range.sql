-- incident: A partial score in percent is averaged with shares. Shares and rates are 0-1.
select 'attempts.partial' as found_in, campaign, item_id, partial as value
from main.attempts
where partial not between 0 and 1
union all
select 'scores.completion_rate', campaign, item_id, completion_rate
from main.scores
where completion_rate not between 0 and 1
union all
select 'scores.mean_partial', campaign, item_id, mean_partial
from main.scores
where mean_partial not between 0 and 1
