import { createPrivateKey, sign } from "node:crypto";
import { brokenAnswer, failureOfAnswer } from "../failures.ts";
import type { PackageFetch } from "./provider-fetch.ts";

const TOKEN_URL = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const LIFE_SECONDS = 3_600;
/** A token is replaced this long before it expires, so that it does not expire during a request. */
const MARGIN_MS = 300_000;
const FETCH_MS = 15_000;

export interface ServiceAccount {
	readonly clientEmail: string;
	/** PEM. `\n` may stand for line ends, as in environment variables. */
	readonly privateKey: string;
	readonly privateKeyId: string | undefined;
	readonly fetch: PackageFetch;
	readonly wallMs?: () => number;
}

/**
 * Fetches access tokens of a service account by a signed assertion (RFC 7523; Google's "Using OAuth 2.0 for server to
 * server applications"). A token is reused until shortly before it expires. Concurrent calls share one fetch.
 */
export class ServiceAccountToken {
	readonly #account: ServiceAccount;
	#token: { readonly text: string; readonly untilMs: number } | null = null;
	#fetching: Promise<string> | null = null;

	constructor(account: ServiceAccount) {
		this.#account = account;
	}

	/** Returns a token. Throws UpstreamFailure if none can be fetched. */
	get(): Promise<string> {
		const nowMs = this.#wallMs();
		if (this.#token !== null && nowMs < this.#token.untilMs) return Promise.resolve(this.#token.text);
		this.#fetching ??= this.#fetch(nowMs).finally(() => {
			this.#fetching = null;
		});
		return this.#fetching;
	}

	async #fetch(nowMs: number): Promise<string> {
		const response = await this.#account.fetch(TOKEN_URL, {
			method: "POST",
			signal: AbortSignal.timeout(FETCH_MS),
			headers: { "content-type": "application/x-www-form-urlencoded" },
			body: new URLSearchParams({
				grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
				assertion: this.#assertion(Math.floor(nowMs / 1000)),
			}).toString(),
		});
		const body: unknown = await response.json().catch(() => ({}));
		// A refused assertion is a fault of our account, whatever its status.
		if (!response.ok) throw failureOfAnswer(response.status < 500 ? 401 : response.status, body, null);
		const { access_token: text, expires_in: seconds } = body as { access_token?: unknown; expires_in?: unknown };
		if (typeof text !== "string" || text === "")
			throw brokenAnswer("no access token in the answer of the token endpoint", response.status);
		const lifeMs = (typeof seconds === "number" ? seconds : LIFE_SECONDS) * 1000;
		this.#token = { text, untilMs: nowMs + Math.max(lifeMs - MARGIN_MS, 0) };
		return text;
	}

	#assertion(nowSeconds: number): string {
		const { clientEmail, privateKey, privateKeyId } = this.#account;
		const header = { alg: "RS256", typ: "JWT", ...(privateKeyId === undefined ? {} : { kid: privateKeyId }) };
		const claims = { iss: clientEmail, scope: SCOPE, aud: TOKEN_URL, iat: nowSeconds, exp: nowSeconds + LIFE_SECONDS };
		const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
		const key = createPrivateKey(privateKey.replaceAll("\\n", "\n"));
		return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
	}

	#wallMs(): number {
		return this.#account.wallMs?.() ?? Date.now();
	}
}
