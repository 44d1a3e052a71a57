CREATE TABLE `entries` (
	`node_seq` integer PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`archived` integer DEFAULT 0 NOT NULL,
	`importance` text NOT NULL,
	`category` text,
	`status` text,
	`completed_at` integer,
	`blockers` text,
	`outcome` text,
	`tags` text NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "entries_type" CHECK("type" in ('core', 'learning', 'task')),
	CONSTRAINT "entries_importance" CHECK("importance" in ('low', 'medium', 'high')),
	CONSTRAINT "entries_status" CHECK("status" in ('in-progress', 'blocked', 'completed') or status is null),
	CONSTRAINT "entries_task" CHECK("entries"."status" is null or "entries"."type" = 'task'),
	CONSTRAINT "entries_completed" CHECK("entries"."completed_at" is null or "entries"."status" = 'completed')
);
--> statement-breakpoint
CREATE INDEX `entries_listing` ON `entries` (`archived`,`type`,`bytes`);