-- incident: An embedder cut its vectors to another size than was stored; distances between two sizes
--   failed only when a page asked for them.
select campaign, item_id, embedder, dimensions, len(vector) as found
from main.embeddings
where len(vector) <> dimensions
