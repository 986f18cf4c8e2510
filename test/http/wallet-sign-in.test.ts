/** Wallets that sign in over HTTP: who a request is, and what the refusals look like on each kind of route. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { at, createSolanaWallet, createWallet, evmHeader, solanaHeader } from "../../src/access/wallet/testing/sign-ins.ts";
import { ManualClock } from "../../src/telemetry/clock.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";

const ALLOWED = 20;
const clock = new ManualClock(Date.now());
let gate: RunningGateway;

beforeAll(async () => {
	gate = await startGateway({ clock, config: { limits: { failedRequests: ALLOWED } } });
});
afterAll(() => gate.stop());
/** No test sees the failures of another. */
beforeEach(() => clock.advance(120_000));

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${gate.url}/api/v1${path}`, { headers });
const now = (url: string) => ({
	domain: new URL(url).host,
	uri: url,
	issuedAt: at(0, clock.wallMs()),
	expirationTime: at(600_000, clock.wallMs()),
});
const signIn = async (url = gate.url, wallet = createWallet()) => ({
	"X-Sign-In-With-X": await evmHeader(wallet, now(url), { timestamp: clock.wallMs() }),
});
const BAD = { "X-Sign-In-With-X": "bm9uc2Vuc2U=" };
const statusOf = async (answer: Promise<Response>) => {
	const response = await answer;
	await response.arrayBuffer();
	return response.status;
};

test("wallets of both chains sign in, under both names of the header and for both local addresses", async () => {
	const wallet = createWallet();
	const header = await signIn(gate.url, wallet);
	const value = header["X-Sign-In-With-X"];
	expect(await statusOf(get("/models", header))).toBe(200);
	expect(await statusOf(get("/models", { "SIGN-IN-WITH-X": value }))).toBe(200);
	expect(await statusOf(get("/models", { ...header, "SIGN-IN-WITH-X": value }))).toBe(200);
	const local = await signIn(gate.url.replace("127.0.0.1", "localhost"), wallet);
	expect(await statusOf(get(`/x402/balance/${wallet.address}`, local))).toBe(200);
	expect(await statusOf(get("/models", { "SIGN-IN-WITH-X": solanaHeader(createSolanaWallet(), now(gate.url)) }))).toBe(200);
});

test("what Host says is nothing: the address of a server is what it listens on, or its configuration", async () => {
	const header = await signIn("http://evil.test");
	const answer = await get("/models", { ...header, Host: "evil.test", "X-Forwarded-Host": "evil.test" });
	expect(answer.status).toBe(401);
	expect(await answer.json()).toMatchObject({ details: { reason: "domain_mismatch" } });
});

test("a refusal is 401 with the text of the API: an object where an OpenAI client reads it, else a string", async () => {
	const models = await get("/models", BAD);
	expect(models.status).toBe(401);
	expect(models.headers.get("content-type")).toContain("application/json");
	expect(await models.json()).toEqual({
		error: {
			message: "Invalid Sign-in-with-x signature",
			type: "authentication_error",
			param: null,
			code: "X402_INVALID_SIGN_IN",
		},
		code: "X402_INVALID_SIGN_IN",
		details: { reason: "malformed_header" },
	});
	const balance = await get(`/x402/balance/${createWallet().address}`, BAD);
	expect(balance.status).toBe(401);
	expect(await balance.json()).toEqual({
		error: "Invalid Sign-in-with-x signature",
		code: "X402_INVALID_SIGN_IN",
		details: { reason: "malformed_header" },
	});
});

test("where wallets may call, their header decides over a key; where they may not, it is not looked at", async () => {
	const key = { authorization: `Bearer ${gate.key}` };
	expect(await statusOf(get("/models", { ...key, ...BAD }))).toBe(401);
	expect(await statusOf(get("/models", { authorization: "Bearer wallet", ...(await signIn()) }))).toBe(200);
	expect(await statusOf(get("/billing/balance", { ...key, ...BAD }))).toBe(200);
	expect(await statusOf(get("/billing/balance", await signIn()))).toBe(401);
});

test("an address that fails to sign in too often waits, and who signs in rightly from there does not", async () => {
	const good = await signIn();
	for (let count = 0; count <= ALLOWED; count++) expect(await statusOf(get("/models", BAD))).toBe(401);
	const blocked = await get("/models", BAD);
	expect(blocked.status).toBe(429);
	expect(blocked.headers.get("retry-after")).toBe("30");
	expect(await statusOf(get("/models", good))).toBe(200);
	expect(await statusOf(get("/models", { authorization: `Bearer ${gate.key}` }))).toBe(200);
	clock.advance(30_000);
	expect(await statusOf(get("/models", BAD))).toBe(401);
});
