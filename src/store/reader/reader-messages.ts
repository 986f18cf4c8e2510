/** Messages between the event loop and the reader's thread. */
import type { SentError } from "../thread-protocol.ts";
import type { ReadInput, ReadName } from "./reads.ts";

export type ToReader =
	/** A data folder, or the address of a PostgreSQL database. */
	| { readonly type: "open"; readonly place: string }
	| {
			[Name in ReadName]: { readonly type: "read"; readonly id: number; readonly name: Name; readonly input: ReadInput<Name> };
	  }[ReadName];

export type FromReader =
	| { readonly type: "answer"; readonly id: number; readonly answer: unknown }
	| { readonly type: "refusal"; readonly id: number; readonly error: SentError };
