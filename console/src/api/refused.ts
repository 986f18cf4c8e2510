import type { Refusal } from "../../../src/routes/console/types.ts";

/** The server refused. The message is the server's, and written for the reader. */
export class Refused extends Error {
	override name = "Refused";
	readonly status: number;
	readonly code: string;
	readonly requestId: string | null;
	/** From Retry-After. */
	readonly retryAfterSeconds: number | null;

	constructor(status: number, refusal: Refusal, headers: Headers) {
		super(refusal.error);
		this.status = status;
		this.code = refusal.code;
		this.requestId = headers.get("x-request-id");
		const after = Number(headers.get("retry-after") ?? Number.NaN);
		this.retryAfterSeconds = Number.isFinite(after) ? after : null;
	}
}

/** No answer came: the server or the network is down. */
export class Unreachable extends Error {
	override name = "Unreachable";

	constructor(cause: unknown) {
		super("The server does not answer", { cause });
	}
}

/** Returns the error of an answer, even if a proxy sent it. */
export async function refusedBy(answer: Response): Promise<Refused> {
	const text = await answer.text().catch(() => "");
	return new Refused(answer.status, refusalIn(text) ?? { error: plainly(answer), code: "UNKNOWN_ERROR" }, answer.headers);
}

function plainly(answer: Response): string {
	return `The server answered with ${answer.status} ${answer.statusText}`.trim();
}

/** Returns the message of an error body in any of the API's formats. */
function refusalIn(text: string): Refusal | null {
	try {
		const body: unknown = JSON.parse(text);
		if (typeof body !== "object" || body === null || !("error" in body)) return null;
		const code = "code" in body && typeof body.code === "string" ? body.code : "UNKNOWN_ERROR";
		const { error } = body;
		if (typeof error === "string") return { error, code };
		if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string")
			return { error: error.message, code };
		return null;
	} catch {
		return null;
	}
}
