-- question: Which kept variants lie farthest from the seed that they descend from?
-- grain: campaign, embedder, item_id
-- units: distance is the cosine distance of the instructions' vectors (0 same direction, 2 opposite),
--   NULL where one is all zeros; rank 1 is the farthest of its campaign and embedder.
with pairs as (
    select
        sets.campaign,
        variant.embedder,
        sets.item_id,
        sets.root,
        -- DuckDB 1.5 gives 2 and 2.0 gives NaN for the distance from a vector of zeros
        case
            when list_inner_product(variant.vector, variant.vector) > 0
                and list_inner_product(origin.vector, origin.vector) > 0
                then list_cosine_distance(variant.vector, origin.vector)::DOUBLE
        end as distance
    from analysis.item_sets as sets
    join main.embeddings as variant
        on variant.campaign = sets.campaign
        and variant.item_id = sets.item_id
    join main.embeddings as origin
        on origin.campaign = sets.campaign
        and origin.item_id = sets.root
        and origin.embedder = variant.embedder
        and origin.dimensions = variant.dimensions
    where sets.item_set = 'evolved'
)
select
    pairs.campaign,
    pairs.embedder,
    pairs.item_id,
    pairs.root,
    pairs.distance,
    rank() over (
        partition by pairs.campaign, pairs.embedder
        order by pairs.distance desc nulls last, pairs.item_id
    ) as rank,
    variant.instruction,
    origin.instruction as root_instruction
from pairs
left join main.items as variant on variant.item_id = pairs.item_id
left join main.items as origin on origin.item_id = pairs.root
order by pairs.campaign, pairs.embedder, rank
