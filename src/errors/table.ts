/**
 * Every error that the API can answer, in one table: machine code, HTTP status, default text.
 * The text tells the caller what to do next; most throwers give a more exact one.
 */
export const ERROR_TABLE = {
	INVALID_REQUEST: [400, "Invalid request parameters"],
	INVALID_MODEL: [400, "This model cannot be used on this route; GET /api/v1/models lists models by type"],
	INVALID_AUDIO_FORMAT: [400, "The audio could not be read; send one of the documented formats"],
	INVALID_VIDEO_FORMAT: [400, "The video could not be read; send mp4, mpeg, mov or webm"],
	CORRUPTED_IMAGE: [400, "The image could not be read; send a whole JPEG, PNG, WebP or GIF"],
	IMAGE_TOO_SMALL: [400, "The image is too small; each side needs at least 64 pixels"],
	TOO_MANY_TOKENS: [400, "Prompt and completion together pass the model's context; shorten the messages"],
	AUTHENTICATION_FAILED: [401, "Authentication failed"],
	AUTHENTICATION_FAILED_INACTIVE_KEY: [401, "The plan behind this key is not active"],
	PRO_ONLY_MODEL: [401, "This model is reserved for the paid plan"],
	INSUFFICIENT_BALANCE: [402, "Insufficient balance: add credit to this account"],
	API_KEY_USD_SPEND_LIMIT_EXCEEDED: [
		402,
		"The USD limit of this key is reached; raise its consumptionLimit or wait for its next period",
	],
	API_KEY_DIEM_SPEND_LIMIT_EXCEEDED: [
		402,
		"The diem limit of this key is reached; raise its consumptionLimit or wait for its next period",
	],
	UNAUTHORIZED: [403, "This credential may not do this"],
	API_ACCESS_DISABLED: [403, "API access of this account is disabled; ask the operator"],
	NOT_FOUND: [404, "Not found"],
	MODEL_NOT_FOUND: [404, "Unknown model; GET /api/v1/models lists what is available"],
	CHARACTER_NOT_FOUND: [404, "Unknown character; GET /api/v1/characters lists what is available"],
	METHOD_NOT_ALLOWED: [405, "This path does not take this method; the Allow header names those it takes"],
	REQUEST_TIMEOUT_UPLOAD: [408, "The request body came too slowly; send it within 300 s and without pauses over 20 s"],
	MODEL_REMOVED: [410, "This model was retired; GET /api/v1/models lists what is available"],
	PAYLOAD_TOO_LARGE: [413, "The request body is over the limit of this route"],
	INVALID_CONTENT_TYPE: [415, "Send Content-Type: application/json"],
	IMAGE_TOO_LARGE: [422, "The image has too many pixels"],
	CONTENT_POLICY_VIOLATION: [422, "The request was refused by the content policy"],
	RATE_LIMIT_EXCEEDED: [429, "Rate limit exceeded; wait as Retry-After says"],
	MODEL_OVERLOADED: [429, "The model is overloaded; try again shortly"],
	INFERENCE_FAILED: [500, "The model's backend failed; try again"],
	UNKNOWN_ERROR: [500, "Something went wrong here; try again, and name the X-Request-ID to the operator if it stays"],
	MODEL_OFFLINE: [503, "This model is offline"],
	MODEL_AT_CAPACITY: [503, "This model is at capacity; try again shortly"],
	SERVICE_UNAVAILABLE: [503, "The service takes no new requests right now; try again shortly"],
	REQUEST_TIMEOUT: [504, "The model did not answer in time; use stream: true for long answers"],
} as const satisfies Record<string, readonly [status: number, text: string]>;

export type ErrorCode = keyof typeof ERROR_TABLE;
