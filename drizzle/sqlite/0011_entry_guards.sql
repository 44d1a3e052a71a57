-- Entries are core, learnings or tasks, and know whether they are in the archive.
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
  OR (new.form = 'entry' AND new.kind IN ('core', 'learning', 'task'))
  OR (new.form = 'chunk' AND new.kind IN ('fact', 'preference', 'pattern', 'note', 'decision'))
) IS NOT TRUE BEGIN
  SELECT raise(ABORT, 'nodes: unknown form or kind');
END;
--> statement-breakpoint
CREATE TRIGGER entries_of_entry BEFORE INSERT ON entries
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE seq = new.node_seq AND form = 'entry' AND kind = new.type) BEGIN
  SELECT raise(ABORT, 'entries: the node is not an entry of this type');
END;
--> statement-breakpoint
CREATE TRIGGER entries_identity_immutable BEFORE UPDATE OF node_seq, type ON entries BEGIN
  SELECT raise(ABORT, 'entries: what it is about is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_entry_archived AFTER UPDATE OF tier ON nodes WHEN new.form = 'entry' BEGIN
  UPDATE entries SET archived = new.tier = 'archive' WHERE node_seq = new.seq;
END;
