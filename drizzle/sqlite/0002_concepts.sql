CREATE TABLE `confidence_updates` (
	`seq` integer PRIMARY KEY NOT NULL,
	`node_seq` integer NOT NULL,
	`old_confidence` real NOT NULL,
	`new_confidence` real NOT NULL,
	`trigger` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "confidence_updates_trigger" CHECK("trigger" in ('outcome', 'decay', 'consolidation', 'manual'))
);
--> statement-breakpoint
CREATE INDEX `confidence_updates_node` ON `confidence_updates` (`node_seq`,`seq`);--> statement-breakpoint
CREATE TABLE `node_access` (
	`node_seq` integer PRIMARY KEY NOT NULL,
	`access_count` integer NOT NULL,
	`last_accessed_at` integer NOT NULL,
	`decayed_at` integer,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `node_tags` (
	`node_seq` integer NOT NULL,
	`tag` text NOT NULL,
	PRIMARY KEY(`node_seq`, `tag`),
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `node_tags_tag` ON `node_tags` (`tag`,`node_seq`);--> statement-breakpoint
ALTER TABLE `nodes` ADD `session_id` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `task_id` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `provenance` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `metadata` text;--> statement-breakpoint
CREATE INDEX `nodes_listing` ON `nodes` (`tier`,`type`,`confidence`);--> statement-breakpoint
CREATE INDEX `nodes_session` ON `nodes` (`session_id`) WHERE session_id is not null;--> statement-breakpoint
CREATE INDEX `nodes_task` ON `nodes` (`task_id`) WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX `hyperedges_listing` ON `hyperedges` (`type`,`label`);--> statement-breakpoint
CREATE INDEX `utility_observations_problem` ON `utility_observations` (`problem_seq`);