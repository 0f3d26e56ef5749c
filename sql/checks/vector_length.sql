-- incident: An embedder cuts its vectors to another size than is stored; the distance between two
--   sizes fails only when a page asks for it.
select campaign, item_id, embedder, dimensions, len(vector) as found
from main.embeddings
where len(vector) <> dimensions
