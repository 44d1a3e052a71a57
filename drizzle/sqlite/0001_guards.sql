-- What the generated migrations cannot express: tables without a row id, the search index, and the rules that hold even for a
-- direct SQL client.

-- Rows that are all key are kept once, in the order of the key, instead of in a table and an index over it.
DROP TABLE membership;
--> statement-breakpoint
CREATE TABLE membership (
  edge_seq integer NOT NULL,
  node_seq integer NOT NULL,
  role text NOT NULL,
  position integer DEFAULT 0 NOT NULL,
  label text NOT NULL,
  PRIMARY KEY(edge_seq, node_seq, role),
  FOREIGN KEY (edge_seq) REFERENCES hyperedges(seq) ON UPDATE no action ON DELETE cascade,
  FOREIGN KEY (node_seq) REFERENCES nodes(seq) ON UPDATE no action ON DELETE cascade,
  CONSTRAINT "membership_role" CHECK("role" in ('subject', 'object', 'context', 'participant', 'cause', 'effect'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX membership_node ON membership (node_seq, label, edge_seq, role);
--> statement-breakpoint
DROP TABLE node_evidence;
--> statement-breakpoint
CREATE TABLE node_evidence (
  node_seq integer NOT NULL,
  evidence_seq integer NOT NULL,
  created_at integer NOT NULL,
  position integer NOT NULL,
  PRIMARY KEY(node_seq, evidence_seq),
  FOREIGN KEY (node_seq) REFERENCES nodes(seq) ON UPDATE no action ON DELETE cascade,
  FOREIGN KEY (evidence_seq) REFERENCES evidence_refs(seq) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
DROP TABLE edge_evidence;
--> statement-breakpoint
CREATE TABLE edge_evidence (
  edge_seq integer NOT NULL,
  evidence_seq integer NOT NULL,
  created_at integer NOT NULL,
  position integer NOT NULL,
  PRIMARY KEY(edge_seq, evidence_seq),
  FOREIGN KEY (edge_seq) REFERENCES hyperedges(seq) ON UPDATE no action ON DELETE cascade,
  FOREIGN KEY (evidence_seq) REFERENCES evidence_refs(seq) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
DROP TABLE vote_evidence;
--> statement-breakpoint
CREATE TABLE vote_evidence (
  vote_seq integer NOT NULL,
  evidence_seq integer NOT NULL,
  created_at integer NOT NULL,
  position integer NOT NULL,
  PRIMARY KEY(vote_seq, evidence_seq),
  FOREIGN KEY (vote_seq) REFERENCES utility_observations(seq) ON UPDATE no action ON DELETE cascade,
  FOREIGN KEY (evidence_seq) REFERENCES evidence_refs(seq) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
DROP TABLE evolution_nodes;
--> statement-breakpoint
CREATE TABLE evolution_nodes (
  node_seq integer NOT NULL,
  log_seq integer NOT NULL,
  PRIMARY KEY(node_seq, log_seq),
  FOREIGN KEY (node_seq) REFERENCES nodes(seq) ON UPDATE no action ON DELETE cascade,
  FOREIGN KEY (log_seq) REFERENCES evolution_log(seq) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint

-- Terms arrive normalised and separated by blanks: the tokenizer splits there, and takes every other character as it comes.
-- The index keeps no text of its own: the terms stand in their node.
CREATE VIRTUAL TABLE node_search USING fts5(terms, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'");
--> statement-breakpoint
CREATE VIRTUAL TABLE node_search_terms USING fts5vocab('node_search', 'row');
--> statement-breakpoint
CREATE TRIGGER nodes_search_delete AFTER DELETE ON nodes BEGIN
  DELETE FROM node_search WHERE rowid = old.seq;
END;
--> statement-breakpoint
-- A check constraint could not learn a new form without rebuilding the table and all that hangs on it; a trigger is replaced.
CREATE TRIGGER nodes_known_form BEFORE INSERT ON nodes
WHEN (
  new.form = 'reference'
  OR (new.form = 'memory' AND new.kind IN ('problem', 'solution', 'failed_tactic', 'fact', 'preference', 'change'))
) IS NOT TRUE BEGIN
  SELECT raise(ABORT, 'nodes: unknown form or kind');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_identity_immutable BEFORE UPDATE OF seq, id, form, type, repo_id, scope, created_at ON nodes BEGIN
  SELECT raise(ABORT, 'nodes: identity is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_memory_immutable BEFORE UPDATE OF content, kind, confidence, terms, search_terms ON nodes
WHEN old.form = 'memory' BEGIN
  SELECT raise(ABORT, 'nodes: a memory is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_memory_undeletable BEFORE DELETE ON nodes WHEN old.form = 'memory' BEGIN
  SELECT raise(ABORT, 'nodes: a memory is never deleted, archive it');
END;
--> statement-breakpoint
CREATE TRIGGER memories_of_memory BEFORE INSERT ON memories
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE seq = new.node_seq AND form = 'memory' AND kind = new.kind) BEGIN
  SELECT raise(ABORT, 'memories: the node is not a memory of this kind');
END;
--> statement-breakpoint
CREATE TRIGGER memories_immutable BEFORE UPDATE ON memories BEGIN
  SELECT raise(ABORT, 'memories: a memory is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER memories_undeletable BEFORE DELETE ON memories BEGIN
  SELECT raise(ABORT, 'memories: a memory is never deleted, archive it');
END;
--> statement-breakpoint
CREATE TRIGGER utility_observations_immutable BEFORE UPDATE ON utility_observations BEGIN
  SELECT raise(ABORT, 'utility_observations: a vote is immutable, append another');
END;
--> statement-breakpoint
CREATE TRIGGER evolution_log_immutable BEFORE UPDATE ON evolution_log BEGIN
  SELECT raise(ABORT, 'evolution_log: the log is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER utility_observations_undeletable BEFORE DELETE ON utility_observations BEGIN
  SELECT raise(ABORT, 'utility_observations: a vote is never deleted, append another');
END;
--> statement-breakpoint
CREATE TRIGGER evolution_log_undeletable BEFORE DELETE ON evolution_log BEGIN
  SELECT raise(ABORT, 'evolution_log: the log is append-only');
END;
--> statement-breakpoint
-- INSERT OR REPLACE deletes without firing the triggers of a delete, so it is stopped before.
CREATE TRIGGER nodes_not_replaced BEFORE INSERT ON nodes
WHEN EXISTS (SELECT 1 FROM nodes WHERE seq = new.seq OR id = new.id) BEGIN
  SELECT raise(ABORT, 'nodes: there is a node of this id');
END;
--> statement-breakpoint
CREATE TRIGGER memories_not_replaced BEFORE INSERT ON memories
WHEN EXISTS (SELECT 1 FROM memories WHERE node_seq = new.node_seq) BEGIN
  SELECT raise(ABORT, 'memories: a memory is immutable');
END;
--> statement-breakpoint
CREATE TRIGGER utility_observations_not_replaced BEFORE INSERT ON utility_observations
WHEN EXISTS (SELECT 1 FROM utility_observations WHERE seq = new.seq OR id = new.id) BEGIN
  SELECT raise(ABORT, 'utility_observations: a vote is immutable, append another');
END;
--> statement-breakpoint
CREATE TRIGGER evolution_log_not_replaced BEFORE INSERT ON evolution_log
WHEN EXISTS (SELECT 1 FROM evolution_log WHERE seq = new.seq) BEGIN
  SELECT raise(ABORT, 'evolution_log: the log is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER membership_label BEFORE INSERT ON membership
WHEN new.label IS NOT (SELECT label FROM hyperedges WHERE seq = new.edge_seq) BEGIN
  SELECT raise(ABORT, 'membership: the label is not the label of the edge');
END;
--> statement-breakpoint
-- A node plays one part in an attempt and in a fact update: a problem is not its own solution, a fact not its own successor.
CREATE TRIGGER membership_distinct BEFORE INSERT ON membership
WHEN EXISTS (SELECT 1 FROM membership WHERE edge_seq = new.edge_seq AND node_seq = new.node_seq)
  AND new.label IN ('attempts', 'fact_update', 'related_to') BEGIN
  SELECT raise(ABORT, 'membership: the members of this link are distinct');
END;
--> statement-breakpoint
CREATE TRIGGER nodes_count_insert AFTER INSERT ON nodes WHEN new.form <> 'reference' BEGIN
  INSERT INTO node_counts (form, kind, tier, nodes, terms) VALUES (new.form, ifnull(new.kind, ''), new.tier, 1, new.terms)
  ON CONFLICT (form, kind, tier) DO UPDATE SET nodes = nodes + 1, terms = terms + excluded.terms;
END;
--> statement-breakpoint
CREATE TRIGGER nodes_count_delete AFTER DELETE ON nodes WHEN old.form <> 'reference' BEGIN
  UPDATE node_counts SET nodes = nodes - 1, terms = terms - old.terms
  WHERE form = old.form AND kind = ifnull(old.kind, '') AND tier = old.tier;
END;
--> statement-breakpoint
CREATE TRIGGER nodes_count_update AFTER UPDATE OF kind, tier, terms ON nodes WHEN new.form <> 'reference' BEGIN
  UPDATE node_counts SET nodes = nodes - 1, terms = terms - old.terms
  WHERE form = old.form AND kind = ifnull(old.kind, '') AND tier = old.tier;
  INSERT INTO node_counts (form, kind, tier, nodes, terms) VALUES (new.form, ifnull(new.kind, ''), new.tier, 1, new.terms)
  ON CONFLICT (form, kind, tier) DO UPDATE SET nodes = nodes + 1, terms = terms + excluded.terms;
END;
