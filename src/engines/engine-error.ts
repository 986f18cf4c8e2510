export type EngineErrorCode = "start-failed" | "exited" | "backing-off" | "stopped";

/** Why an engine cannot work right now. The text is for the operator. */
export class EngineError extends Error {
	override readonly name = "EngineError";
	readonly code: EngineErrorCode;
	/** With `backing-off`: when the next start is allowed. */
	readonly retryAfterSeconds: number | undefined;

	constructor(code: EngineErrorCode, message: string, retryAfterSeconds?: number) {
		super(message);
		this.code = code;
		this.retryAfterSeconds = retryAfterSeconds;
	}
}
