-- incident: A step names a root that is no seed of its campaign; its variants are then missing
--   from the count of parents that evolved.
select steps.campaign, steps.step, steps.root
from main.steps as steps
anti join main.seeds as seeds
    on seeds.campaign = steps.campaign
    and seeds.item_id = steps.root
