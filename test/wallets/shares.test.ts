/** Wallets have a share of their own as accounts have: floods of callers without money do not keep them out. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemClock } from "../../src/telemetry/clock.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { until } from "../support/until.ts";
import { CHAT_MODEL, startWalletGateway, type WalletGateway } from "../support/wallet-gateway.ts";
import { testWallet } from "../support/wallets.ts";

const MAX_RUNNING = 40;
const FLOOD = 60;

let fixture: WalletGateway;
/** A node of Base that takes questions and never answers. */
let silent: ReturnType<typeof Bun.serve>;
let asked = 0;
/** How far the gateway's clock is ahead of the machine's. */
let aheadMs = 0;

beforeAll(async () => {
	silent = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: () => {
			asked++;
			return new Promise<Response>(() => {});
		},
	});
	fixture = await startWalletGateway({
		clock: { wallMs: () => systemClock.wallMs(), monotonicMs: () => systemClock.monotonicMs() + aheadMs },
		config: {
			server: { maxRunning: MAX_RUNNING, maxBodyBytesInFlight: 8 * 1_048_576, trustedProxies: ["127.0.0.1"] },
			siwx: { rpcUrl: `http://127.0.0.1:${silent.port}`, timeoutMs: 600_000 },
			limits: { failedRequests: 0 },
		},
	});
});
afterAll(async () => {
	await silent.stop(true);
	await fixture.stop();
});

const network = (index: number) => ({ "X-Forwarded-For": `2001:db8:0:${index.toString(16)}::1` });
const running = () => fixture.gate.listening.running;

/** Uploads that never end, each from a network of its own, as many as are let in. */
async function uploads(): Promise<{ end(): Promise<void> }> {
	const connections = await Promise.all(Array.from({ length: FLOOD }, () => RawConnection.open(fixture.gate.listening.port)));
	let refused = 0;
	const answers = connections.map(async (connection, index) => {
		const from = `X-Forwarded-For: ${network(index)["X-Forwarded-For"]}`;
		const head = ["POST /api/v1/api_keys/generate_web3_key HTTP/1.1", "Host: localhost", from];
		await connection.send([...head, "Content-Type: application/json", "Content-Length: 16000", "", "{"].join("\r\n"));
		if ((await connection.answer().catch(() => null)) !== null) refused++;
	});
	await until(() => running() + refused === FLOOD, "all uploads at the gateway");
	return {
		async end() {
			for (const connection of connections) connection.destroy();
			await Promise.all(answers);
			await until(() => running() === 0, "the end of all uploads");
		},
	};
}

test("callers without an account fill their places, and wallets with money come in all the same", async () => {
	const [known, unseen] = [testWallet(), testWallet()];
	for (const wallet of [known, unseen]) await fixture.fund(wallet, "1");
	const signedIn = await known.signIn(fixture.gate.url);
	expect((await fixture.rpc(signedIn)).status).toBe(200);
	const flood = await uploads();
	expect(running()).toBe(MAX_RUNNING / 2);
	expect((await fixture.rpc(signedIn)).status).toBe(200);
	expect((await fixture.rpc(await unseen.signIn(fixture.gate.url))).status).toBe(200);
	expect((await fixture.rpc(await testWallet().signIn(fixture.gate.url))).status).toBe(503);
	await flood.end();
	expect((await fixture.rpc(await testWallet().signIn(fixture.gate.url))).status).toBe(402);
});

test("signatures that only a silent node could check fill no places of others", async () => {
	const [known, payer] = [testWallet(), testWallet()];
	await fixture.fund(known, "1");
	await fixture.fund(payer, "1");
	const signedIn = await known.signIn(fixture.gate.url);
	expect((await fixture.rpc(signedIn)).status).toBe(200);
	const flood = Array.from({ length: FLOOD }, async (_, index) => {
		// The signature of another wallet: a contract's word may still make it good.
		const [mine, other] = [await testWallet().signIn(fixture.gate.url), await testWallet().signIn(fixture.gate.url)];
		const payload = JSON.parse(atob(mine["X-Sign-In-With-X"] ?? "")) as object;
		const { signature } = JSON.parse(atob(other["X-Sign-In-With-X"] ?? "")) as { signature: string };
		const header = btoa(JSON.stringify({ ...payload, signature }));
		return (await fixture.rpc({ "X-Sign-In-With-X": header, ...network(index) })).status;
	});
	await until(() => asked > 0 && running() >= MAX_RUNNING / 2, "the questions");
	expect(running()).toBe(MAX_RUNNING / 2);
	expect((await fixture.rpc(signedIn)).status).toBe(200);
	// After a while the accounts of a wallet are read again.
	aheadMs += 60_000;
	expect((await fixture.rpc(signedIn)).status).toBe(200);
	expect((await fixture.chat({ authorization: `Bearer ${fixture.gate.key}` })).status).toBe(200);
	expect((await fixture.get("/models")).status).toBe(401);
	const statuses = await Promise.all(flood);
	expect(new Set(statuses)).toEqual(new Set([503]));
	await until(() => running() === 0, "the end of all questions");
	expect((await fixture.rpc(await payer.signIn(fixture.gate.url))).status).toBe(200);
});

test("callers without an account have half of the memory for bodies, however many networks they come from", async () => {
	const signedIn = (await testWallet().signIn(fixture.gate.url))["X-Sign-In-With-X"];
	const { bodyMemory } = fixture.gate.gateway.pipeline;
	const connections = await Promise.all(Array.from({ length: 16 }, () => RawConnection.open(fixture.gate.listening.port)));
	let refused = 0;
	const answers = connections.map(async (connection, index) => {
		const lines = [
			"POST /api/v1/messages/count_tokens HTTP/1.1",
			"Host: localhost",
			`X-Forwarded-For: ${network(index)["X-Forwarded-For"]}`,
			`X-Sign-In-With-X: ${signedIn}`,
			"Content-Type: application/json",
			"Content-Length: 2000000",
		];
		await connection.send(`${lines.join("\r\n")}\r\n\r\n{"model":"${"a".repeat(1_048_576)}`);
		if ((await connection.answer().catch(() => null)) !== null) refused++;
	});
	await until(() => refused >= 12 && running() + refused === 16, "all bodies at the gateway");
	expect(bodyMemory.used).toBeLessThanOrEqual(bodyMemory.limit / 2);
	const body = { model: CHAT_MODEL, messages: [{ role: "user", content: "word ".repeat(200_000) }] };
	const counted = await fixture.gate.call("POST", "/messages/count_tokens", body);
	expect(counted.status).toBe(200);
	for (const connection of connections) connection.destroy();
	await Promise.all(answers);
	await until(() => running() === 0 && bodyMemory.used === 0, "the end of all bodies");
});

test("nothing is free to a wallet without money: no body of it is read", async () => {
	const signedIn = (await testWallet().signIn(fixture.gate.url))["X-Sign-In-With-X"];
	const form = "multipart/form-data; boundary=x";
	for (const [path, type] of [
		["/chat/completions", "application/json"],
		["/responses", "application/json"],
		["/messages", "application/json"],
		["/image/edit", "application/json"],
		["/image/multi-edit", "application/json"],
		["/images/edits", form],
		["/audio/voices", form],
		["/embeddings", "application/json"],
		["/crypto/rpc/ethereum-mainnet", "application/json"],
	] as const)
		for (const length of [100, 900_000]) {
			const connection = await RawConnection.open(fixture.gate.listening.port);
			const lines = [`POST /api/v1${path} HTTP/1.1`, "Host: localhost", `X-Sign-In-With-X: ${signedIn}`, `Content-Type: ${type}`];
			await connection.send(`${[...lines, `Content-Length: ${length}`].join("\r\n")}\r\n\r\n`);
			expect(`${path} ${length} ${(await connection.answer())?.status}`).toBe(`${path} ${length} 402`);
			connection.destroy();
		}
	await until(() => running() === 0, "the end of all requests");
});
