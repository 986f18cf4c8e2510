import { describe, expect, test } from "bun:test";
import { base58 } from "@scure/base";
import { SMALL_ORDER_POINTS } from "../../schema/index.ts";
import type { SignInMessage } from "./sign-in-message.ts";
import { signInOrigins } from "./sign-in-origins.ts";
import {
	at,
	createSignIn,
	createSolanaWallet,
	createWallet,
	encode,
	evmHeader,
	message,
	NOW,
	outcome,
	requestWith,
	SOLANA_ID,
	solanaHeader,
} from "./testing/sign-ins.ts";

const wallet = createWallet();
const solana = createSolanaWallet();
const IDENTITY = `eip155:8453:${wallet.address.toLowerCase()}`;
const SOLANA_IDENTITY = `solana:${solana.address}`;

/** Outcome of a message that differs so, rightly signed. */
const signed = async (over: Partial<SignInMessage>, payload = {}) =>
	outcome(createSignIn(), await evmHeader(wallet, over, payload));
const signedOnSolana = (over: Partial<SignInMessage>, payload = {}) =>
	outcome(createSignIn(), solanaHeader(solana, over, payload));

describe("the header", () => {
	test("a request without one is nobody's", () => {
		expect(createSignIn().signedIn(new Request("http://localhost/"), () => "")).toBeNull();
		expect(createSignIn().signedIn(requestWith(""), () => "")).toBeNull();
	});

	test("both names are read, also together with one value; two values are refused", async () => {
		const header = await evmHeader(wallet);
		expect(await outcome(createSignIn(), header, "X-Sign-In-With-X")).toBe(IDENTITY);
		expect(await outcome(createSignIn(), header, "SIGN-IN-WITH-X")).toBe(IDENTITY);
		const other = await evmHeader(createWallet());
		for (const [second, expected] of [
			[header, IDENTITY],
			[other, "header_conflict"],
		] as const) {
			const request = requestWith(header);
			request.headers.set("sign-in-with-x", second);
			const found = (async () => (await createSignIn().signedIn(request, () => ""))?.identity)();
			expect(await found.catch((error) => error.options.extra.details.reason)).toBe(expected);
		}
	});

	test("the same name twice is refused", async () => {
		const request = requestWith(await evmHeader(wallet));
		request.headers.append("x-sign-in-with-x", await evmHeader(wallet));
		expect(await outcome(createSignIn(), request.headers.get("x-sign-in-with-x") ?? "")).toBe("malformed_header");
	});

	test("base64 of either alphabet, padded or not", async () => {
		const header = await evmHeader(wallet, { statement: "ÿÿÿ>>>???" });
		const urlSafe = header.replaceAll("+", "-").replaceAll("/", "_");
		expect(urlSafe).not.toBe(header);
		for (const form of [header, urlSafe, header.replace(/=+$/, ""), urlSafe.replace(/=+$/, "")])
			expect(await outcome(createSignIn(), form)).toBe(IDENTITY);
	});

	test("anything but base64 of a JSON object in UTF-8, up to 8 KiB", async () => {
		const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString("base64");
		expect(await outcome(createSignIn(), "no base64!")).toBe("malformed_header");
		expect(await outcome(createSignIn(), base64("no json"))).toBe("malformed_header");
		expect(await outcome(createSignIn(), base64(Uint8Array.of(0x22, 0xff, 0x22)))).toBe("malformed_header");
		expect(await outcome(createSignIn(), base64("[".repeat(6_000)))).toBe("malformed_header");
		for (const value of [null, 1, "text", [], true])
			expect(await outcome(createSignIn(), encode(value))).toBe("malformed_payload");
		const filled = async (length: number) => evmHeader(wallet, {}, { filler: "x".repeat(length) });
		const room = Math.floor((8_192 * 3) / 4) - Math.floor(((await filled(0)).length * 3) / 4);
		expect((await filled(room)).length).toBe(8_192);
		expect(await outcome(createSignIn(), await filled(room))).toBe(IDENTITY);
		expect(await outcome(createSignIn(), await filled(room + 3))).toBe("header_too_large");
	});

	test("members that are missing or of another type", async () => {
		for (const name of ["address", "message", "signature", "chainId"])
			for (const value of [undefined, null, 7.5, {}, [], true, ""]) {
				const found = await signed({}, { [name]: value });
				expect(found).toBe(name === "chainId" && value !== undefined ? "unsupported_chain" : "malformed_payload");
			}
		expect(await signed({}, { timestamp: "now" })).toBe("malformed_payload");
		expect(await signed({}, { type: 1 })).toBe("malformed_payload");
		expect(await signed({}, { timestamp: undefined })).toBe(IDENTITY);
	});

	test("the unsigned timestamp is within ten and a half minutes", async () => {
		for (const offset of [-630_000, 630_000]) expect(await signed({}, { timestamp: NOW + offset })).toBe(IDENTITY);
		for (const offset of [-630_001, 630_001]) expect(await signed({}, { timestamp: NOW + offset })).toBe("invalid_timestamp");
	});
});

describe("the message", () => {
	test("the chain is Base or Solana, in payload and message alike", async () => {
		for (const chainId of [8453, "8453", "eip155:8453"]) expect(await signed({}, { chainId })).toBe(IDENTITY);
		for (const chainId of [1, 84532, "eip155:1", "08453", "eip155:", SOLANA_ID])
			expect(await signed({}, { chainId })).toBe("unsupported_chain");
		for (const chainId of ["1", "eip155:8453", "08453"]) expect(await signed({ chainId })).toBe("chain_mismatch");
		expect(await signed({ account: "Solana" })).toBe("chain_mismatch");
		expect(await signed({}, { type: "ed25519" })).toBe("unsupported_chain");
		for (const type of ["eip191", "eip1271"]) expect(await signed({}, { type })).toBe(IDENTITY);
	});

	test("text that is no message", async () => {
		expect(await signed({ uri: "https://api.example.test\nURI: https://api.example.test" })).toBe("malformed_message");
		expect(await signed({ expirationTime: `${at(60_000)}\nExpiration Time: ${at(90_000)}` })).toBe("malformed_message");
		expect(await signed({ domain: "api.example.test wants" })).toBe("malformed_message");
	});

	test("the address is that of the payload, in any way of writing that its checksum allows", async () => {
		const lower = wallet.address.toLowerCase();
		expect(await signed({ address: lower })).toBe(IDENTITY);
		expect(await signed({}, { address: lower })).toBe(IDENTITY);
		expect(await signed({ address: createWallet().address })).toBe("address_mismatch");
		const wrongCase = wallet.address.replace(/[a-zA-Z](?=[^a-zA-Z]*$)/, (letter) =>
			letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
		);
		expect(await signed({ address: wrongCase })).toBe("address_mismatch");
		expect(await signed({}, { address: wrongCase })).toBe("malformed_payload");
		for (const address of ["0x", `${lower}0`, lower.slice(2), solana.address])
			expect(await signed({}, { address })).toBe("malformed_payload");
	});

	test("the domain is the configured one, to the letter", async () => {
		for (const domain of [
			"api.example.test.",
			"API.example.test",
			"api.example.test:443",
			"example.test",
			"localhost:1",
			"https://api.example.test",
		])
			expect(await signed({ domain })).toBe("domain_mismatch");
	});

	test("the URI has the configured origin, with any path", async () => {
		for (const uri of [
			"https://api.example.test/",
			"https://api.example.test:443/x?y#z",
			"https://api.example.test/api/v1/chat/completions",
		])
			expect(await signed({ uri })).toBe(IDENTITY);
		for (const uri of [
			"https://api.example.test.evil",
			"https://api.example.test@evil.test",
			"https://api.example.testing/",
			"http://api.example.test",
			"https://api.example.test:8443",
			"blob:https://api.example.test/1",
			" https://api.example.test",
			"https://api.exam\u00ADple.test",
			"api.example.test",
			"//api.example.test",
		])
			expect(await signed({ uri })).toBe("uri_mismatch");
	});

	test("version 1, and a nonce of 8 to 128 letters and digits", async () => {
		for (const version of ["2", "1.0", " 1", "01"]) expect(await signed({ version })).toBe("unsupported_version");
		for (const nonce of ["aB345678", "x".repeat(128)]) expect(await signed({ nonce })).toBe(IDENTITY);
		for (const nonce of ["1234567", "x".repeat(129), "1234-5678", "1234 5678", "ä2345678"])
			expect(await signed({ nonce })).toBe("malformed_nonce");
	});

	test("issued at most half a minute from now, and ten and a half ago", async () => {
		for (const offset of [30_000, -630_000]) expect(await signed({ issuedAt: at(offset), expirationTime: null })).toBe(IDENTITY);
		for (const offset of [30_001, -630_001])
			expect(await signed({ issuedAt: at(offset), expirationTime: null })).toBe("issued_at_out_of_range");
		for (const issuedAt of ["2026-10-01T12:00:00+02:00", "2026-10-01T10:00:00.123456Z", "2026-10-01T10:00:00Z"])
			expect(await signed({ issuedAt })).toBe(IDENTITY);
	});

	test("it has not expired, and not more than a day to live", async () => {
		expect(await signed({ expirationTime: at(1) })).toBe(IDENTITY);
		for (const offset of [0, -1]) expect(await signed({ expirationTime: at(offset) })).toBe("expired");
		expect(await signed({ expirationTime: at(86_400_000) })).toBe(IDENTITY);
		expect(await signed({ expirationTime: at(86_400_001) })).toBe("expires_too_late");
	});

	test("it is not from later on", async () => {
		expect(await signed({ notBefore: at(0) })).toBe(IDENTITY);
		expect(await signed({ notBefore: at(1) })).toBe("not_yet_valid");
	});

	test("times are instants that exist, each of them", async () => {
		for (const name of ["issuedAt", "expirationTime", "notBefore"])
			for (const time of [
				"2026-02-30T00:00:00Z",
				"2026-10-01",
				"2026-10-01 10:00:00Z",
				"2026-10-01T24:00:00Z",
				"2026-10-01T10:00:60Z",
				"1790848800000",
				"now",
			])
				expect(await signed({ [name]: time })).toBe("invalid_timestamp");
	});

	test("request id, resources and any statement change nothing", async () => {
		expect(await signed({ requestId: "r 1", resources: ["https://evil.example.test"], statement: "Whatever this says" })).toBe(
			IDENTITY,
		);
		for (const emptyLines of [1, 2] as const) expect(await signed({ statement: null, emptyLines })).toBe(IDENTITY);
	});

	test("without an address of its own the server is what it listens on, and never what Host says", async () => {
		const local = createSignIn({ origins: () => signInOrigins(undefined, 8787) });
		const header = async (domain: string, uri: string) => outcome(local, await evmHeader(wallet, { domain, uri }));
		expect(await header("localhost:8787", "http://localhost:8787/api/v1/models")).toBe(IDENTITY);
		expect(await header("127.0.0.1:8787", "http://127.0.0.1:8787")).toBe(IDENTITY);
		expect(await header("192.0.2.1", "http://192.0.2.1")).toBe("domain_mismatch");
		expect(await header("localhost", "http://localhost")).toBe("domain_mismatch");
		expect(await header("localhost:8787", "http://127.0.0.1:8787")).toBe("uri_mismatch");
	});
});

describe("the signature", () => {
	test("of another wallet, another text, or of none", async () => {
		const other = await createWallet().signMessage({ message: "x" });
		for (const signature of [other, "0x", "0x00", "zz", other.slice(2), `${other}00`, other.slice(0, -2), "x".repeat(132)])
			expect(await signed({}, { signature })).toBe("signature_mismatch");
	});

	test("a Solana wallet signs in base58 or base64, for either name of its chain", async () => {
		for (const chainId of [SOLANA_ID, `solana:${SOLANA_ID}`]) expect(await signedOnSolana({ chainId })).toBe(SOLANA_IDENTITY);
		expect(await signedOnSolana({}, { type: undefined })).toBe(SOLANA_IDENTITY);
		const { text, signature } = decoded(solanaHeader(solana));
		const base64 = Buffer.from(base58.decode(signature)).toString("base64");
		for (const form of [base64, base64.replace(/=+$/, ""), base64.replaceAll("+", "-").replaceAll("/", "_")])
			expect(await signedOnSolana({}, { message: text, signature: form })).toBe(SOLANA_IDENTITY);
	});

	test("of a Solana wallet that is not this one's", async () => {
		const other = createSolanaWallet();
		const wrong = base58.encode(other.signBytes(decoded(solanaHeader(solana)).text));
		for (const signature of [wrong, "1".repeat(64), "1".repeat(88), Buffer.alloc(64).toString("base64"), "0OIl", "0x00"])
			expect(await signedOnSolana({}, { signature })).toBe("signature_mismatch");
		expect(await signedOnSolana({ address: other.address })).toBe("address_mismatch");
		expect(await signedOnSolana({ address: solana.address.toLowerCase() })).toBe("address_mismatch");
		expect(await signedOnSolana({}, { type: "eip191" })).toBe("unsupported_chain");
		expect(await signedOnSolana({}, { chainId: 8453 })).not.toBe(SOLANA_IDENTITY);
		expect(await signedOnSolana({ chainId: "mainnet" })).toBe("chain_mismatch");
	});

	test("keys for which anyone can sign are no wallets", async () => {
		for (const point of SMALL_ORDER_POINTS)
			for (const sign of [0, 0x80]) {
				const key = Buffer.from(point, "hex");
				key[31] = (key[31] ?? 0) | sign;
				const address = base58.encode(key);
				const forged = {
					address,
					signBytes: () => Buffer.concat([Buffer.from([...SMALL_ORDER_POINTS][1] ?? "", "hex"), Buffer.alloc(32)]),
				};
				expect(await outcome(createSignIn(), solanaHeader(forged))).toBe("malformed_payload");
			}
	});
});

describe("the form of fields", () => {
	const fields = async (over = {}, signer = wallet) => {
		const given = {
			domain: "api.example.test",
			address: signer.address,
			statement: "Sign in",
			uri: "https://api.example.test/x",
			version: "1",
			chainId: "eip155:8453",
			type: "eip191",
			nonce: "0123456789abcdef0123456789abcdef",
			issuedAt: at(0),
			expirationTime: at(300_000),
			...over,
		};
		const { statement, uri, nonce, issuedAt, expirationTime } = given;
		const text = [
			`${given.domain} wants you to sign in with your Ethereum account:`,
			signer.address,
			"",
			...(statement ? [statement] : [""]),
			...(statement ? [""] : []),
			`URI: ${uri}`,
			`Version: ${given.version}`,
			"Chain ID: 8453",
			`Nonce: ${nonce}`,
			`Issued At: ${issuedAt}`,
			...(expirationTime ? [`Expiration Time: ${expirationTime}`] : []),
		].join("\n");
		return outcome(createSignIn(), encode({ ...given, signature: await signer.signMessage({ message: text }) }));
	};

	test("its text is built from them, and checked as any other", async () => {
		expect(await fields()).toBe(IDENTITY);
		expect(await fields({ address: wallet.address.toLowerCase() })).toBe(IDENTITY);
		expect(await fields({ statement: null, expirationTime: null })).toBe(IDENTITY);
		expect(await fields({ domain: "evil.test" })).toBe("domain_mismatch");
		expect(await fields({ uri: "https://evil.test" })).toBe("uri_mismatch");
		expect(await fields({ expirationTime: at(-1) })).toBe("expired");
		expect(await fields({ nonce: "short" })).toBe("malformed_nonce");
		expect(await fields({ version: "2" })).toBe("unsupported_version");
	});

	test("fields that are missing, of another type, or smuggle lines in", async () => {
		for (const name of ["domain", "uri", "version", "nonce", "issuedAt"])
			for (const value of [undefined, null, 1, "", {}]) expect(await fields({ [name]: value })).toBe("malformed_payload");
		for (const name of ["statement", "expirationTime", "notBefore", "requestId"])
			expect(await fields({ [name]: 1 })).toBe("malformed_payload");
		for (const resources of ["x", [1], {}]) expect(await fields({ resources })).toBe("malformed_payload");
		expect(await fields({ statement: "a\n\nURI: https://evil.test\nVersion: 1" })).toBe("malformed_message");
		expect(await fields({ nonce: `0123456789\nIssued At: ${at(0)}` })).toBe("malformed_message");
	});
});

describe("a header that was good", () => {
	test("is known at once, until it expires to the millisecond", async () => {
		const signIn = createSignIn();
		const header = await evmHeader(wallet, { expirationTime: at(300_000) });
		const request = requestWith(header);
		const first = signIn.signedIn(request, () => "");
		expect(first).toBeInstanceOf(Promise);
		expect(await first).toEqual({
			identity: IDENTITY,
			chain: "evm",
			address: wallet.address.toLowerCase(),
			expiresAtMs: NOW + 300_000,
		});
		expect(signIn.signedIn(requestWith(header, "SIGN-IN-WITH-X"), () => "")).toEqual(await first);
		signIn.clock.advance(299_999);
		expect(signIn.signedIn(request, () => "")).toEqual(await first);
		signIn.clock.advance(1);
		expect(await outcome(signIn, header)).toBe("expired");
	});

	test("is known for ten and a half minutes at most, whatever it says", async () => {
		const signIn = createSignIn();
		const header = await evmHeader(wallet, { expirationTime: at(86_400_000) }, { timestamp: undefined });
		expect(await outcome(signIn, header)).toBe(IDENTITY);
		signIn.clock.advance(630_000);
		expect(await outcome(signIn, header)).toBe(IDENTITY);
		signIn.clock.advance(1);
		expect(await outcome(signIn, header)).toBe("issued_at_out_of_range");
	});

	test("is forgotten when the clock is set on", async () => {
		const signIn = createSignIn();
		const header = await evmHeader(wallet);
		expect(await outcome(signIn, header)).toBe(IDENTITY);
		signIn.clock.setWall(NOW + 86_400_000);
		expect(await outcome(signIn, header)).toBe("invalid_timestamp");
	});

	test("says nothing for another that differs in one letter", async () => {
		const signIn = createSignIn();
		const header = await evmHeader(wallet);
		expect(await outcome(signIn, header)).toBe(IDENTITY);
		const payload = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
		expect(await outcome(signIn, encode({ ...payload, message: payload.message.replace("API", "APJ") }))).toBe(
			"signature_mismatch",
		);
	});
});

function decoded(header: string): { text: string; signature: string } {
	const { message: text, signature } = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
	return { text, signature };
}

test("a refusal is 401 with the text of the API, and tells its reason", async () => {
	const header = await evmHeader(wallet, { ...message(wallet.address), version: "3" });
	const error = await Promise.resolve(createSignIn().signedIn(requestWith(header), () => "")).catch((thrown) => thrown);
	expect(error).toMatchObject({ status: 401, code: "X402_INVALID_SIGN_IN", message: "Invalid Sign-in-with-x signature" });
	expect(error.options.extra).toEqual({ details: { reason: "unsupported_version" } });
});
