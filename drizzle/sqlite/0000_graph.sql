CREATE TABLE `edge_evidence` (
	`edge_seq` integer NOT NULL,
	`evidence_seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`edge_seq`, `evidence_seq`),
	FOREIGN KEY (`edge_seq`) REFERENCES `hyperedges`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`evidence_seq`) REFERENCES `evidence_refs`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `evidence_refs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`repo_id` text NOT NULL,
	`ref` text NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "evidence_refs_ref_filled" CHECK(length(trim("evidence_refs"."ref")) > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `evidence_refs_ref` ON `evidence_refs` (`repo_id`,`ref`);--> statement-breakpoint
CREATE TABLE `evolution_log` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`operation` text NOT NULL,
	`repo_id` text NOT NULL,
	`node_ids` text NOT NULL,
	`from_tier` text,
	`to_tier` text,
	`reasoning` text
);
--> statement-breakpoint
CREATE TABLE `evolution_nodes` (
	`node_seq` integer NOT NULL,
	`log_seq` integer NOT NULL,
	PRIMARY KEY(`node_seq`, `log_seq`),
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`log_seq`) REFERENCES `evolution_log`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `hyperedges` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`repo_id` text NOT NULL,
	`type` text NOT NULL,
	`label` text NOT NULL,
	`weight` real DEFAULT 1 NOT NULL,
	`origin` text NOT NULL,
	`key` text NOT NULL,
	`rationale` text,
	`created_at` integer NOT NULL,
	CONSTRAINT "hyperedges_type" CHECK("type" in ('relation', 'composition', 'causation', 'context')),
	CONSTRAINT "hyperedges_origin" CHECK("origin" in ('manual', 'auto')),
	CONSTRAINT "hyperedges_weight" CHECK("hyperedges"."weight" >= 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hyperedges_id` ON `hyperedges` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `hyperedges_key` ON `hyperedges` (`key`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`repo_id` text NOT NULL,
	`key` text NOT NULL,
	`request_digest` text NOT NULL,
	`reply` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`repo_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `membership` (
	`edge_seq` integer NOT NULL,
	`node_seq` integer NOT NULL,
	`role` text NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`label` text NOT NULL,
	PRIMARY KEY(`edge_seq`, `node_seq`, `role`),
	FOREIGN KEY (`edge_seq`) REFERENCES `hyperedges`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "membership_role" CHECK("role" in ('subject', 'object', 'context', 'participant', 'cause', 'effect'))
);
--> statement-breakpoint
CREATE INDEX `membership_node` ON `membership` (`node_seq`,`label`,`edge_seq`,`role`);--> statement-breakpoint
CREATE TABLE `memories` (
	`node_seq` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`rationale` text,
	`text_digest` text NOT NULL,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `memories_digest` ON `memories` (`text_digest`,`kind`);--> statement-breakpoint
CREATE TABLE `node_counts` (
	`form` text NOT NULL,
	`kind` text NOT NULL,
	`tier` text NOT NULL,
	`nodes` integer NOT NULL,
	`terms` integer NOT NULL,
	PRIMARY KEY(`form`, `kind`, `tier`)
);
--> statement-breakpoint
CREATE TABLE `node_evidence` (
	`node_seq` integer NOT NULL,
	`evidence_seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`node_seq`, `evidence_seq`),
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`evidence_seq`) REFERENCES `evidence_refs`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `nodes` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`form` text NOT NULL,
	`kind` text,
	`type` text NOT NULL,
	`repo_id` text NOT NULL,
	`scope` text NOT NULL,
	`confidence` real,
	`tier` text NOT NULL,
	`archived_from` text,
	`archived_at` integer,
	`archive_reason` text,
	`terms` integer NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`content` text NOT NULL,
	`search_terms` text NOT NULL,
	CONSTRAINT "nodes_type" CHECK("type" in ('entity', 'fact', 'experience', 'decision', 'snippet')),
	CONSTRAINT "nodes_scope" CHECK("scope" in ('repo', 'global')),
	CONSTRAINT "nodes_tier" CHECK("tier" in ('task', 'session', 'longterm', 'archive')),
	CONSTRAINT "nodes_confidence" CHECK("nodes"."confidence" between 0 and 1),
	CONSTRAINT "nodes_archived" CHECK(("nodes"."tier" = 'archive') = ("nodes"."archived_at" is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_id` ON `nodes` (`id`);--> statement-breakpoint
CREATE TABLE `repos` (
	`repo_id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `utility_observations` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`repo_id` text NOT NULL,
	`memory_seq` integer NOT NULL,
	`problem_seq` integer NOT NULL,
	`vote` real NOT NULL,
	`rationale` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`memory_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`problem_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "utility_observations_vote" CHECK("utility_observations"."vote" between -1 and 1),
	CONSTRAINT "utility_observations_distinct" CHECK("utility_observations"."memory_seq" <> "utility_observations"."problem_seq")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `utility_observations_id` ON `utility_observations` (`id`);--> statement-breakpoint
CREATE INDEX `utility_observations_memory` ON `utility_observations` (`memory_seq`,`created_at`,`vote`);--> statement-breakpoint
CREATE TABLE `vote_evidence` (
	`vote_seq` integer NOT NULL,
	`evidence_seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`vote_seq`, `evidence_seq`),
	FOREIGN KEY (`vote_seq`) REFERENCES `utility_observations`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`evidence_seq`) REFERENCES `evidence_refs`(`seq`) ON UPDATE no action ON DELETE cascade
);
