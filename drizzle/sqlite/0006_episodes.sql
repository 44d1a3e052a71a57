CREATE TABLE `agents` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`parent_seq` integer,
	`specialization` text,
	`capabilities` text NOT NULL,
	`metadata` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_active_at` integer NOT NULL,
	FOREIGN KEY (`parent_seq`) REFERENCES `agents`(`seq`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "agents_type" CHECK("type" in ('main', 'subagent')),
	CONSTRAINT "agents_parent" CHECK(("agents"."type" = 'subagent') = ("agents"."parent_seq" is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_id` ON `agents` (`id`);--> statement-breakpoint
CREATE INDEX `agents_active` ON `agents` (`type`,`last_active_at`);--> statement-breakpoint
CREATE TABLE `chapters` (
	`node_seq` integer PRIMARY KEY NOT NULL,
	`key` text,
	`start_at` integer NOT NULL,
	`end_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`title` text,
	`text` text NOT NULL,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `chapters_key` ON `chapters` (`key`);--> statement-breakpoint
CREATE INDEX `chapters_start` ON `chapters` (`start_at`,`node_seq`);--> statement-breakpoint
CREATE TABLE `episodes` (
	`node_seq` integer PRIMARY KEY NOT NULL,
	`agent_seq` integer NOT NULL,
	`task_type` text NOT NULL,
	`success` integer NOT NULL,
	`failure_category` text,
	`importance` real NOT NULL,
	`created_at` integer NOT NULL,
	`goal` text NOT NULL,
	`summary` text NOT NULL,
	`layers` text NOT NULL,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`agent_seq`) REFERENCES `agents`(`seq`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "episodes_success" CHECK("episodes"."success" in (0, 1)),
	CONSTRAINT "episodes_importance" CHECK("episodes"."importance" between 0 and 1),
	CONSTRAINT "episodes_task_type" CHECK("task_type" in ('bug_fix', 'feature_add', 'refactor', 'investigation', 'test_write', 'documentation', 'optimization', 'security_fix', 'dependency_update', 'configuration', 'other')),
	CONSTRAINT "episodes_failure_category" CHECK("failure_category" in ('incorrect_assumption', 'unexpected_side_effect', 'missing_dependency', 'race_condition', 'type_error', 'test_failure', 'build_failure', 'runtime_error', 'logic_error', 'other') or failure_category is null)
);
--> statement-breakpoint
CREATE INDEX `episodes_recent` ON `episodes` (`created_at`,`node_seq`);--> statement-breakpoint
CREATE INDEX `episodes_importance` ON `episodes` (`importance`,`node_seq`);--> statement-breakpoint
CREATE INDEX `episodes_agent` ON `episodes` (`agent_seq`,`success`);--> statement-breakpoint
CREATE TABLE `files` (
	`seq` integer PRIMARY KEY NOT NULL,
	`path` text NOT NULL,
	`reversed` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `files_path` ON `files` (`path`);--> statement-breakpoint
CREATE INDEX `files_reversed` ON `files` (`reversed`);--> statement-breakpoint
CREATE TABLE `node_files` (
	`node_seq` integer NOT NULL,
	`file_seq` integer NOT NULL,
	`operation` text NOT NULL,
	PRIMARY KEY(`node_seq`, `file_seq`),
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`file_seq`) REFERENCES `files`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "node_files_operation" CHECK("operation" in ('relevant', 'read', 'edit', 'create', 'delete'))
);
--> statement-breakpoint
CREATE INDEX `node_files_file` ON `node_files` (`file_seq`,`node_seq`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`agent_seq` integer NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	`queries_made` integer DEFAULT 0 NOT NULL,
	`initial_intent` text,
	`final_outcome` text,
	FOREIGN KEY (`agent_seq`) REFERENCES `agents`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_id` ON `sessions` (`id`);--> statement-breakpoint
CREATE INDEX `sessions_agent` ON `sessions` (`agent_seq`,`started_at`);--> statement-breakpoint
CREATE TABLE `wisdom` (
	`node_seq` integer PRIMARY KEY NOT NULL,
	`key` text,
	`start_at` integer NOT NULL,
	`end_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`text` text NOT NULL,
	FOREIGN KEY (`node_seq`) REFERENCES `nodes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `wisdom_key` ON `wisdom` (`key`);