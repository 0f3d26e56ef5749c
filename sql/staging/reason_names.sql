-- question: Which failure reasons of attempts are there? Ours, not the paper's, which publishes none.
-- grain: reason
-- units: none.
select reason, reason_name
from (values
    ('R1', 'wrong_entity'),
    ('R2', 'wrong_value'),
    ('R3', 'missing_effect'),
    ('R4', 'extra_effect'),
    ('R5', 'unrecovered_error'),
    ('R6', 'unfinished')
) as names(reason, reason_name)
