-- question: How many of a campaign's kept variants are neither surely solved nor lost in fresh attempts?
-- grain: campaign, solver
-- units: counts of kept variants; rate is in_band / confirmed (0-1) with a 95 % interval in which variants of
--   one seed, or of seeds that are alike, are one cluster (tasks/intervals.py); NULL with fewer than two.
select
    replications.campaign,
    replications.solver,
    specs.endpoint,
    specs.llm_id,
    replications.kept,
    replications.confirmed,
    replications.in_band,
    replications.rate,
    replications.rate_low,
    replications.rate_high
from main.replications as replications
left join main.specs as specs
    on specs.spec_id = replications.solver
    and specs.role = 'solver'
order by replications.campaign, replications.solver
