/** Why a file gives no text. */
export type DocumentFaultKind =
	/** It contains no text. */
	| "empty"
	/** The type is not supported. */
	| "unsupported"
	/** It needs a password, or is bound to a reader's licence. */
	| "encrypted"
	/** It is truncated or damaged. */
	| "corrupt"
	/** It inflates, nests or counts past a limit. */
	| "too-large"
	/** It took more time or memory than a file may. */
	| "too-costly";

/** A fault of the file, not of this server. The message may be sent to a caller. */
export class DocumentFault extends Error {
	override readonly name = "DocumentFault";
	readonly kind: DocumentFaultKind;

	constructor(kind: DocumentFaultKind, message: string) {
		super(message);
		this.kind = kind;
	}
}
