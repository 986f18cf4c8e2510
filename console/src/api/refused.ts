import type { Refusal } from "../../../src/routes/console/types.ts";

/** The server said no. The message is its own, and meant to be read. */
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

/** No answer came: the server is down, or the network is. */
export class Unreachable extends Error {
	override name = "Unreachable";

	constructor(cause: unknown) {
		super("The server does not answer", { cause });
	}
}

/** What an error answer says, also where something in between answered in its place. */
export async function refusedBy(answer: Response): Promise<Refused> {
	const text = await answer.text().catch(() => "");
	return new Refused(answer.status, refusalIn(text) ?? { error: plainly(answer), code: "UNKNOWN_ERROR" }, answer.headers);
}

function plainly(answer: Response): string {
	return `The server answered with ${answer.status} ${answer.statusText}`.trim();
}

/** The words of an error body in any of the API's forms. */
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
