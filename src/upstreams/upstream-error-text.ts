export interface UpstreamErrorText {
	readonly message: string;
	readonly code: string;
	readonly type: string;
	readonly param: string | undefined;
	/** A status inside the body. */
	readonly status: number | undefined;
}
