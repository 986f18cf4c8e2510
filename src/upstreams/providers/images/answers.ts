import type { ProviderName } from "../../../config/providers.ts";
import { base64String, decodeBase64Over, inTurns, LongStrings, PICTURE_BOUNDS } from "../../../wire/index.ts";
import { readWhole } from "../../chat/whole-answer.ts";
import { cancelBody, isGood } from "../../connect.ts";
import { errorBody } from "../../error-text.ts";
import { brokenAnswer } from "../../failures.ts";
import type { Fetch } from "../../fetch.ts";
import { isPicture } from "../../images/is-picture.ts";
import { type ImageAttempt, MAX_ANSWER_BYTES, MAX_PICTURE_BYTES } from "../../images/port.ts";
import { parsedAnswer } from "../../parsed-answer.ts";
import { type PublicFetch, PublicFetchFault } from "../../public-fetch/port.ts";
import type { ProviderUpstream } from "../provider-upstream.ts";
import { refusalOf } from "./refusals.ts";

const MAX_ERROR_BYTES = 64 * 1024;
/** Time limit for a picture at another server: pictures are large, and some hosts are slow. */
const ELSEWHERE_MS = 60_000;
/** Headers that packages send to every server. A request with other headers has a credential. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set(["accept", "accept-encoding", "user-agent", "x-request-id"]);
const EMPTY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);
const HEADERS_OF_THE_BODY = ["content-length", "content-encoding", "transfer-encoding"];
const MARKED = /;base64,/;
const MAX_HEAD = 512;

export interface PackageAnswersOptions extends Pick<ImageAttempt, "fetch" | "fetchPublic" | "signal"> {
	readonly config: ProviderUpstream;
}

/**
 * Limits and reads a provider's answers before its package does. The long strings of a large answer are cut, since
 * parsing them would block the event loop. Refusals become failures. Addresses of other servers are read like addresses
 * of strangers.
 */
export class PackageAnswers {
	readonly #options: PackageAnswersOptions;
	readonly #origin: string;
	readonly #provider: ProviderName;
	#long = LongStrings.none;

	constructor(inputs: PackageAnswersOptions) {
		this.#options = inputs;
		this.#origin = new URL(inputs.config.url).origin;
		this.#provider = inputs.config.provider;
	}

	/** The fetch for the package. Throws UpstreamFailure and errors of the connection. */
	readonly fetch: Fetch = async (url, init) => {
		const { fetch, fetchPublic, signal } = this.#options;
		if (this.#isElsewhere(url, init)) return elsewhere(url, fetchPublic, signal);
		const response = await fetch(url, init);
		if (response.status >= 300 && response.status < 400) {
			cancelBody(response.body);
			throw brokenAnswer(`status ${response.status}: a redirect`, response.status);
		}
		if (EMPTY_STATUSES.has(response.status)) return response;
		return isGood(response) ? this.#good(response) : this.#bad(response);
	};

	/** Returns the bytes of a picture that the package returned; null if it is none. */
	async bytesOf(picture: string | Uint8Array): Promise<Uint8Array | null> {
		if (typeof picture !== "string") return picture;
		const view = this.#long.viewOf(picture);
		if (view === null || picture.startsWith("data:")) return base64String(picture, this.#long);
		// A package that removes the head of a data URL removed it only from the cut text.
		const head = MARKED.exec(Buffer.from(view.bytes.subarray(0, MAX_HEAD)).toString("latin1"));
		return inTurns(decodeBase64Over(view.bytes.subarray(head === null ? 0 : head.index + head[0].length)));
	}

	/** Returns true for a GET without a credential to another server: a picture that the answer names. */
	#isElsewhere(url: string, init: Parameters<Fetch>[1]): boolean {
		const names = [...new Headers(init.headers as ConstructorParameters<typeof Headers>[0]).keys()];
		const isPlain = (init.method ?? "GET") === "GET" && names.every((name) => PLAIN_HEADERS.has(name));
		return isPlain && new URL(url).origin !== this.#origin;
	}

	async #good(response: Response): Promise<Response> {
		const isJson = /json/i.test(response.headers.get("content-type") ?? "");
		const bytes = await readWhole(response, isJson ? MAX_ANSWER_BYTES : MAX_PICTURE_BYTES);
		if (isPicture(bytes)) return rebuilt(response, bytes);
		// Anything but a picture is read as JSON, whatever its type, since a package takes long to reject other bytes.
		const { value, json, long } = await parsedAnswer(bytes, response.status, PICTURE_BOUNDS);
		if (!long.isEmpty) this.#long = long;
		const refusal = refusalOf(this.#provider, response.status, value);
		if (refusal !== null) throw refusal;
		return rebuilt(response, json);
	}

	async #bad(response: Response): Promise<Response> {
		const bytes = await readWhole(response, MAX_ERROR_BYTES);
		const refusal = refusalOf(this.#provider, response.status, errorBody(bytes, this.#options.config.key));
		if (refusal !== null) throw refusal;
		return rebuilt(response, bytes);
	}
}

function rebuilt({ status, headers }: Response, bytes: Uint8Array): Response {
	const otherHeaders = new Headers(headers);
	for (const name of HEADERS_OF_THE_BODY) otherHeaders.delete(name);
	return new Response(bytes as Uint8Array<ArrayBuffer>, { status, headers: otherHeaders });
}

async function elsewhere(url: string, fetchPublic: PublicFetch | undefined, signal: AbortSignal): Promise<Response> {
	if (fetchPublic === undefined) throw brokenAnswer("an answer with the address of another server");
	try {
		const { bytes, headers } = await fetchPublic.read(url, {
			tenant: "upstreams",
			signal,
			maxBytes: MAX_PICTURE_BYTES,
			totalMs: ELSEWHERE_MS,
		});
		return new Response(bytes, { headers: { "content-type": headers.get("content-type") ?? "application/octet-stream" } });
	} catch (error) {
		if (error instanceof PublicFetchFault) throw brokenAnswer(`its picture cannot be read: ${error.kind}`);
		throw error;
	}
}
