CREATE TABLE `purged_nodes` (
	`node_id` text NOT NULL,
	`log_seq` integer NOT NULL,
	PRIMARY KEY(`node_id`, `log_seq`),
	FOREIGN KEY (`log_seq`) REFERENCES `evolution_log`(`seq`) ON UPDATE no action ON DELETE cascade
);
