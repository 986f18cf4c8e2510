import type { Migration } from "../core/migration.ts";

/**
 * Wallets that pay with a balance of their own: `identity` of such an account is `eip155:<chain>:<address>` or
 * `solana:<address>`. Other accounts have none, and are listed separately.
 */
export const wallets: Migration = {
	number: 8,
	name: "wallets",
	steps: [
		`
ALTER TABLE accounts ADD COLUMN identity TEXT;
CREATE UNIQUE INDEX accounts_by_identity ON accounts (identity) WHERE identity IS NOT NULL;
CREATE INDEX wallets_by_age ON accounts (created_at, id) WHERE identity IS NOT NULL;
CREATE INDEX owners_by_age ON accounts (created_at, id) WHERE identity IS NULL;
DROP INDEX accounts_by_age;
`,
	],
};
