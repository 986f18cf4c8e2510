/** Why a file gives no text. */
export type DocumentFaultKind =
	/** Nothing in it that is text. */
	| "empty"
	/** A type that is not read. */
	| "unsupported"
	/** Needs a password, or is bound to a reader's licence. */
	| "encrypted"
	/** Cut off or broken. */
	| "corrupt"
	/** Inflates, nests or counts past a limit. */
	| "too-large"
	/** Took longer, or more memory, than a file may. */
	| "too-costly";

/** A fault of the file, not of this server. The text may go to a caller. */
export class DocumentFault extends Error {
	override readonly name = "DocumentFault";
	readonly kind: DocumentFaultKind;

	constructor(kind: DocumentFaultKind, message: string) {
		super(message);
		this.kind = kind;
	}
}
