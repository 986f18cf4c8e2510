/** A step of the schema, under the same number and name for both stores. */
export interface Migration {
	readonly number: number;
	readonly name: string;
	/** One or more statements. */
	readonly sql: string;
}

/** Thrown where a newer version of this program wrote the folder. */
export class StoreTooNewError extends Error {
	override readonly name = "StoreTooNewError";
	readonly code = "STORE_TOO_NEW";

	constructor(found: number, known: number) {
		super(`the store has schema ${found}, this program knows ${known}; start the version that wrote it`);
	}
}
