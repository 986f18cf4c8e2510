import type { Migration } from "../core/migration.ts";
import { CAP_LEASES } from "./0011-cap-leases.ts";

/** Several workers of one machine may share a SQLite store. */
export const workers: Migration = { number: 15, name: "workers", steps: [{ sqlite: CAP_LEASES }] };
