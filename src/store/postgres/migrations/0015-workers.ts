import type { Migration } from "../../core/migration.ts";

/** SQLite gets the table `cap_leases`, which PostgreSQL has since migration 11. */
export const workers: Migration = { number: 15, name: "workers", sql: "SELECT 1" };
