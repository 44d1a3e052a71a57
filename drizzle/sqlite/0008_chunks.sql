CREATE TABLE `chunks` (
	`node_seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`source` text NOT NULL,
	`tokens` integer NOT NULL,
	`tags` text NOT NULL,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "chunks_source" CHECK("source" in ('interaction', 'import', 'derived')),
	CONSTRAINT "chunks_tokens" CHECK("chunks"."tokens" between 1 and 800)
);
--> statement-breakpoint
CREATE INDEX `chunks_conversation` ON `chunks` (`conversation_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `chunks_recent` ON `chunks` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `nodes_form_listing` ON `nodes` (`form`,`tier`,`type`,`confidence`);