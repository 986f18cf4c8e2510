import { type Migration, neverChanged } from "../core/migration.ts";

/**
 * Money that the operator takes back (`debits`) and refunded charges (`refunds`, a row for each unit of the charge),
 * each once for its reference; and the order in which accounts and movements of their money are listed.
 */
export const debitsAndRefunds: Migration = {
	number: 3,
	name: "debits-and-refunds",
	steps: [
		`
CREATE TABLE debits (
	reference TEXT NOT NULL PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	amount INTEGER NOT NULL CHECK (amount > 0),
	movement_id INTEGER NOT NULL UNIQUE REFERENCES movements (id),
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX debits_of_account ON debits (account_id, movement_id);

CREATE TABLE refunds (
	reference TEXT NOT NULL,
	unit TEXT NOT NULL CHECK (unit IN ('usd', 'bundled', 'diem')),
	account_id TEXT NOT NULL REFERENCES accounts (id),
	post_id INTEGER NOT NULL REFERENCES posts (id),
	amount INTEGER NOT NULL CHECK (amount > 0),
	movement_id INTEGER NOT NULL UNIQUE REFERENCES movements (id),
	created_at INTEGER NOT NULL,
	PRIMARY KEY (reference, unit)
) STRICT;
CREATE INDEX refunds_of_account ON refunds (account_id, movement_id);
CREATE INDEX refunds_of_post ON refunds (post_id);

CREATE INDEX credits_of_account ON credits (account_id, movement_id);
CREATE INDEX accounts_by_age ON accounts (created_at, id);
`,
		neverChanged("debits", "refunds"),
	],
};
