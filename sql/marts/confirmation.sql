-- question: Does what the search saw in a kept variant hold in fresh attempts?
-- grain: campaign, item_id, solver
-- units: search_c and fresh_c are completion rates (0-1) of two sets of attempts that share none; search_c
--   is biased towards 0.5, for the variant was kept for it: estimates are made of fresh_c alone.
--   band_probability is the posterior P(0.4 < p < 0.6) of the solve probability p after the fresh
--   attempts, from a uniform prior, exact (tasks/posterior.py). in_band: fresh_c lies in [0.4, 0.6]; NULL
--   where nothing was scored. same_solver: the solver of the search was asked again. difficulty 1-3.
select
    fresh.campaign,
    fresh.item_id,
    kept.root,
    fresh.solver,
    specs.llm_id,
    fresh.simulated,
    fresh.solver = seen.solver as same_solver,
    seen.solved as search_solved,
    seen.scored as search_scored,
    seen.solved / nullif(seen.scored, 0) as search_c,
    fresh.solved as fresh_solved,
    fresh.scored as fresh_scored,
    fresh.solved / nullif(fresh.scored, 0) as fresh_c,
    fresh.in_band,
    fresh.band_probability,
    labels.value as difficulty
from main.confirmations as fresh
join analysis.item_sets as kept
    on kept.campaign = fresh.campaign
    and kept.item_id = fresh.item_id
    and kept.item_set = 'evolved'
join main.scores as seen
    on seen.campaign = fresh.campaign
    and seen.item_id = fresh.item_id
    and seen.measurement = 'search'
left join main.specs as specs
    on specs.spec_id = fresh.solver
    and specs.role = 'solver'
left join analysis.item_labels as labels
    on labels.campaign = fresh.campaign
    and labels.item_id = fresh.item_id
    and labels.name = 'difficulty'
order by fresh.campaign, fresh.solver, fresh.band_probability desc, fresh.item_id
