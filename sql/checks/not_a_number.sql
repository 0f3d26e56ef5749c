-- incident: One NaN, for the rate of an item without scored attempts, makes every average over it
--   NaN. What is missing is NULL.
select campaign, item_id, measurement
from main.scores
where isnan(completion_rate)
    or isnan(mean_solved_length)
    or isnan(mean_solved_turns)
    or isnan(mean_partial)
    or isnan(bell)
    or isnan(variance)
    or isnan(bell_length_wide)
    or isnan(variance_length_wide)
    or isnan(bell_length_narrow)
    or isnan(variance_length_narrow)
