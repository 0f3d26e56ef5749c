-- question: Which features of items are there? Ours, not the paper's, which publishes none.
-- grain: feature
-- units: none.
select feature, feature_name
from (values
    ('F1', 'intermediate_call'),
    ('F2', 'cross_app_flow'),
    ('F3', 'iteration'),
    ('F4', 'condition'),
    ('F5', 'filter_or_superlative'),
    ('F6', 'arithmetic'),
    ('F7', 'dates'),
    ('F8', 'ambiguous_mention'),
    ('F9', 'exclusion'),
    ('F10', 'indirect_reference')
) as names(feature, feature_name)
