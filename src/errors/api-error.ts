import { ERROR_TABLE, type ErrorCode } from "./table.ts";

/** One entry of `issues` in a validation error: path into the input, machine code, text. */
export interface Issue {
	readonly path: readonly (string | number)[];
	readonly code: string;
	readonly message: string;
	/**
	 * The bound of `too_small` and `too_big`, its kind (string, array, number), and whether the bound itself is allowed.
	 */
	readonly minimum?: number;
	readonly maximum?: number;
	readonly type?: string;
	readonly inclusive?: boolean;
}

export interface ApiErrorOptions {
	/** The message for the caller, with the next step. Default: the table's text. */
	readonly message?: string;
	/** The field at fault, if any. */
	readonly param?: string;
	readonly issues?: readonly Issue[];
	/** Seconds for Retry-After. */
	readonly retryAfterSeconds?: number;
	/** `error.code` in the OpenAI form, where it differs from the machine code (context_length_exceeded). */
	readonly openAiCode?: string;
	/** `error.details.error_code` in Anthropic's form, where its SDKs act on one of theirs (thread_unsupported_request). */
	readonly anthropicCode?: string;
	/** Further members of the body beside `error` and `code`. */
	readonly extra?: Readonly<Record<string, unknown>>;
	readonly headers?: Readonly<Record<string, string>>;
	/** The whole body, where a standard prescribes another form. */
	readonly body?: Readonly<Record<string, unknown>>;
	/**
	 * The exceeded limit, or the feature that the model lacks, for the account's log of limits. `subject` is that of the
	 * minute window, or the model.
	 */
	readonly limit?: {
		readonly kind: "RPM" | "TPM" | "RPD" | "FAILED_REQUESTS" | "UNSUPPORTED_FEATURE_REQUESTS";
		readonly subject: string | null;
	};
	/** The underlying fault, for the log only, never for the caller. */
	readonly cause?: unknown;
}

/** An error of the table, to be sent to the caller. Anything else that is thrown becomes UNKNOWN_ERROR. */
export class ApiError extends Error {
	override readonly name = "ApiError";
	readonly status: number;
	readonly code: ErrorCode;
	readonly options: ApiErrorOptions;

	constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
		super(options.message ?? ERROR_TABLE[code][1], options.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
		this.status = ERROR_TABLE[code][0];
		this.options = options;
	}

	/** The machine code as the caller sees it: the table has different codes for 408 and 504, the API has one. */
	get publicCode(): string {
		return this.code === "REQUEST_TIMEOUT_UPLOAD" ? "REQUEST_TIMEOUT" : this.code;
	}
}
