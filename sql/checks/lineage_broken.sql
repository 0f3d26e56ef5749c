-- incident: A step named a root that was no seed of its campaign, so its variants were missing from the
--   count of parents that evolved.
select steps.campaign, steps.step, steps.root
from main.steps as steps
anti join main.seeds as seeds
    on seeds.campaign = steps.campaign
    and seeds.item_id = steps.root
