-- question: Which features do items have before and after the evolution, and which became more common?
-- grain: campaign, feature
-- units: shares 0-1 of the items labelled for the feature; growth is relative (2.12 is +212 %), NULL
--   where the original share is 0. It is taken from the shares as printed, in tenths of a percent, as
--   the paper does: its 9.4 and 29.3 % give +212 %, while 10 of 106 and 215 of 735 would give +210 %.
with counted as (
    select
        sets.campaign,
        names.feature,
        names.feature_name,
        count(labels.value) filter (where sets.item_set = 'original') as original_labelled,
        count(*) filter (where sets.item_set = 'original' and labels.value = 1) as original_items,
        count(labels.value) filter (where sets.item_set = 'evolved') as evolved_labelled,
        count(*) filter (where sets.item_set = 'evolved' and labels.value = 1) as evolved_items
    from analysis.item_sets as sets
    cross join analysis.feature_names as names
    left join analysis.item_labels as labels
        on labels.campaign = sets.campaign
        and labels.item_id = sets.item_id
        and labels.name = names.feature
    group by sets.campaign, names.feature, names.feature_name
),
shares as (
    select
        *,
        original_items / nullif(original_labelled, 0) as original_share,
        evolved_items / nullif(evolved_labelled, 0) as evolved_share
    from counted
)
select
    campaign,
    feature,
    feature_name,
    original_labelled,
    original_items,
    original_share,
    evolved_labelled,
    evolved_items,
    evolved_share,
    round(evolved_share, 3) / nullif(round(original_share, 3), 0) - 1 as growth
from shares
order by campaign, length(feature), feature
