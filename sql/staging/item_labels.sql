-- question: What do we hold true of an item, where several sources gave a label? For difficulty,
--   interaction and reasoning the code's value, else the first judge's by name; a feature holds when
--   code or a judge says so. What a seed's author or AppWorld's people say of it is no label here: nobody
--   says the like of a variant.
-- grain: campaign, item_id, name
-- units: value 1-3 for difficulty, interaction and reasoning; 1 or 0 for a feature (F1...).
select
    campaign,
    item_id,
    name,
    case
        when name in ('difficulty', 'interaction', 'reasoning')
            then arg_min(value, case when source = 'code' then '' else source end)
        else max(value)
    end as value
from main.labels
where attempt_id = '' and source not in ('author', 'appworld')
group by campaign, item_id, name
