-- The kind of a concept is free text: counted by it, the counts grew with every new word, and every question sums them. Concepts
-- are counted together, and what there is none of has no row.
DROP TRIGGER nodes_count_insert;
--> statement-breakpoint
DROP TRIGGER nodes_count_delete;
--> statement-breakpoint
DROP TRIGGER nodes_count_update;
--> statement-breakpoint
INSERT INTO node_counts (form, kind, tier, nodes, terms)
SELECT form, '', tier, sum(nodes), sum(terms) FROM node_counts WHERE form = 'concept' AND kind <> '' GROUP BY tier
ON CONFLICT (form, kind, tier) DO UPDATE SET nodes = nodes + excluded.nodes, terms = terms + excluded.terms;
--> statement-breakpoint
DELETE FROM node_counts WHERE (form = 'concept' AND kind <> '') OR nodes = 0;
--> statement-breakpoint
CREATE TRIGGER nodes_count_insert AFTER INSERT ON nodes WHEN new.form <> 'reference' BEGIN
  INSERT INTO node_counts (form, kind, tier, nodes, terms)
  VALUES (new.form, CASE new.form WHEN 'concept' THEN '' ELSE ifnull(new.kind, '') END, new.tier, 1, new.terms)
  ON CONFLICT (form, kind, tier) DO UPDATE SET nodes = nodes + 1, terms = terms + excluded.terms;
END;
--> statement-breakpoint
CREATE TRIGGER nodes_count_delete AFTER DELETE ON nodes WHEN old.form <> 'reference' BEGIN
  UPDATE node_counts SET nodes = nodes - 1, terms = terms - old.terms
  WHERE form = old.form AND kind = CASE old.form WHEN 'concept' THEN '' ELSE ifnull(old.kind, '') END AND tier = old.tier;
  DELETE FROM node_counts
  WHERE form = old.form AND kind = CASE old.form WHEN 'concept' THEN '' ELSE ifnull(old.kind, '') END AND tier = old.tier AND nodes = 0;
END;
--> statement-breakpoint
CREATE TRIGGER nodes_count_update AFTER UPDATE OF kind, tier, terms ON nodes WHEN new.form <> 'reference' BEGIN
  UPDATE node_counts SET nodes = nodes - 1, terms = terms - old.terms
  WHERE form = old.form AND kind = CASE old.form WHEN 'concept' THEN '' ELSE ifnull(old.kind, '') END AND tier = old.tier;
  DELETE FROM node_counts
  WHERE form = old.form AND kind = CASE old.form WHEN 'concept' THEN '' ELSE ifnull(old.kind, '') END AND tier = old.tier AND nodes = 0;
  INSERT INTO node_counts (form, kind, tier, nodes, terms)
  VALUES (new.form, CASE new.form WHEN 'concept' THEN '' ELSE ifnull(new.kind, '') END, new.tier, 1, new.terms)
  ON CONFLICT (form, kind, tier) DO UPDATE SET nodes = nodes + 1, terms = terms + excluded.terms;
END;
