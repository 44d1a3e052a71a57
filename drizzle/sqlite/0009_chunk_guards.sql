-- Chunks are facts, preferences, patterns, notes or decisions.
DROP TRIGGER nodes_known_form;
--> statement-breakpoint
CREATE TRIGGER nodes_known_form BEFORE INSERT ON nodes
WHEN (
  new.form = 'reference'
  OR new.form = 'concept'
  OR (new.form = 'memory' AND new.kind IN ('problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change'))
  OR (new.form = 'episode' AND new.kind IN ('bug_fix', 'feature_add', 'refactor', 'investigation', 'test_write', 'documentation',
    'optimization', 'security_fix', 'dependency_update', 'configuration', 'other'))
  OR (new.form = 'chapter' AND new.kind IN ('manual', 'auto'))
  OR (new.form = 'wisdom' AND new.kind = 'synthesis')
  OR (new.form = 'chunk' AND new.kind IN ('fact', 'preference', 'pattern', 'note', 'decision'))
) IS NOT TRUE BEGIN
  SELECT raise(ABORT, 'nodes: unknown form or kind');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_known_chunk BEFORE UPDATE OF kind ON nodes
WHEN new.form = 'chunk' AND (new.kind IN ('fact', 'preference', 'pattern', 'note', 'decision')) IS NOT TRUE BEGIN
  SELECT raise(ABORT, 'nodes: unknown kind of chunk');
END;
--> statement-breakpoint
-- What a chunk is may be said anew, and with it what it is among all nodes.
DROP TRIGGER nodes_identity_immutable;
--> statement-breakpoint
CREATE TRIGGER nodes_identity_immutable BEFORE UPDATE OF seq, id, form, repo_id, scope, created_at ON nodes BEGIN
  SELECT raise(ABORT, 'nodes: identity is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_type_immutable BEFORE UPDATE OF type ON nodes WHEN old.form <> 'chunk' BEGIN
  SELECT raise(ABORT, 'nodes: the type is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER chunks_of_chunk BEFORE INSERT ON chunks
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE seq = new.node_seq AND form = 'chunk' AND created_at = new.created_at) BEGIN
  SELECT raise(ABORT, 'chunks: the node is not a chunk of this moment');
END;
--> statement-breakpoint
CREATE TRIGGER chunks_identity_immutable BEFORE UPDATE OF node_seq, id, conversation_id, created_at ON chunks BEGIN
  SELECT raise(ABORT, 'chunks: where and when it was said is immutable');
END;
--> statement-breakpoint
-- What all chunks cost together, kept as they come and go: to add it up anew would be to read them all.
CREATE TABLE chunk_sums (one INTEGER PRIMARY KEY CHECK (one = 1), tokens INTEGER NOT NULL);
--> statement-breakpoint
INSERT INTO chunk_sums (one, tokens) VALUES (1, 0);
--> statement-breakpoint
CREATE TRIGGER chunks_sum_insert AFTER INSERT ON chunks BEGIN
  UPDATE chunk_sums SET tokens = tokens + new.tokens WHERE one = 1;
END;
--> statement-breakpoint
CREATE TRIGGER chunks_sum_delete AFTER DELETE ON chunks BEGIN
  UPDATE chunk_sums SET tokens = tokens - old.tokens WHERE one = 1;
END;
--> statement-breakpoint
CREATE TRIGGER chunks_sum_update AFTER UPDATE OF tokens ON chunks BEGIN
  UPDATE chunk_sums SET tokens = tokens + new.tokens - old.tokens WHERE one = 1;
END;
