-- A concept is a bare node of the graph: its kind is free text.
DROP TRIGGER nodes_known_form;
--> statement-breakpoint
CREATE TRIGGER nodes_known_form BEFORE INSERT ON nodes
WHEN (
  new.form = 'reference'
  OR new.form = 'concept'
  OR (new.form = 'memory' AND new.kind IN ('problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change'))
) IS NOT TRUE BEGIN
  SELECT raise(ABORT, 'nodes: unknown form or kind');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_metadata_object BEFORE INSERT ON nodes WHEN new.metadata IS NOT NULL AND json_type(new.metadata) <> 'object' BEGIN
  SELECT raise(ABORT, 'nodes: metadata is a JSON object');
END;
--> statement-breakpoint
CREATE TRIGGER confidence_updates_immutable BEFORE UPDATE ON confidence_updates BEGIN
  SELECT raise(ABORT, 'confidence_updates: the history is append-only');
END;
