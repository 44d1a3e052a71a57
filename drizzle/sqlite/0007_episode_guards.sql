-- Episodes are of a task type, chapters are made by hand or by the service, and wisdom is a synthesis.
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
) IS NOT TRUE BEGIN
  SELECT raise(ABORT, 'nodes: unknown form or kind');
END;
--> statement-breakpoint
CREATE TRIGGER episodes_of_episode BEFORE INSERT ON episodes
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE seq = new.node_seq AND form = 'episode' AND created_at = new.created_at) BEGIN
  SELECT raise(ABORT, 'episodes: the node is not an episode of this moment');
END;
--> statement-breakpoint
CREATE TRIGGER episodes_identity_immutable BEFORE UPDATE OF node_seq, agent_seq, created_at ON episodes BEGIN
  SELECT raise(ABORT, 'episodes: who and when is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER chapters_of_chapter BEFORE INSERT ON chapters
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE seq = new.node_seq AND form = 'chapter') BEGIN
  SELECT raise(ABORT, 'chapters: the node is not a chapter');
END;
--> statement-breakpoint
CREATE TRIGGER wisdom_of_wisdom BEFORE INSERT ON wisdom
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE seq = new.node_seq AND form = 'wisdom') BEGIN
  SELECT raise(ABORT, 'wisdom: the node is not a wisdom');
END;
