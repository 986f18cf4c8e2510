/** Wallets on the audio routes: what they pay, what they are told, whose voices are theirs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readyEncoder } from "../support/audio-engines.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedAudioUpstream, startScriptedAudioUpstream } from "../support/scripted-audio-upstream.ts";
import { toneFile } from "../support/tone-file.ts";
import { until } from "../support/until.ts";
import { startWalletGateway, type WalletGateway } from "../support/wallet-gateway.ts";
import { testWallet } from "../support/wallets.ts";

let fixture: WalletGateway;
let upstream: ScriptedAudioUpstream;
let sample: Uint8Array;

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	const encoder = await readyEncoder();
	sample = await toneFile(encoder, "wav", 2);
	const target = (more: object = {}) => ({ upstreams: [{ upstream: "audio", weight: 1, order: 0, ...more }] });
	fixture = await startWalletGateway({
		audio: { encoder },
		config: {
			limits: { failedRequests: 0 },
			upstreams: { audio: upstreamEntry(upstream.url) },
			models: {
				entries: {
					"tts-orpheus": target(),
					"tts-chatterbox-hd": target({ cloning: "voice_file" }),
					"openai/whisper-large-v3": target(),
				},
			},
		},
	});
});

afterAll(async () => {
	await fixture.stop();
	await upstream.stop();
});

const api = () => `${fixture.gate.url}/api/v1`;
const speak = (headers: Record<string, string>, body: object) =>
	fetch(`${api()}/audio/speech`, {
		method: "POST",
		headers: { ...headers, "content-type": "application/json" },
		body: JSON.stringify({ model: "tts-orpheus", input: "x".repeat(1_000), ...body }),
	});
const send = (path: string, headers: Record<string, string>, fields: Record<string, string> = {}) => {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	form.set("file", new Blob([sample as Uint8Array<ArrayBuffer>]), "me.wav");
	return fetch(`${api()}${path}`, { method: "POST", headers, body: form });
};

test("a wallet pays for speech and transcriptions, and is told what it has left", async () => {
	const wallet = testWallet();
	const accountId = await fixture.fund(wallet, "1");
	const signedIn = await wallet.signIn(fixture.gate.url);
	const spoken = await speak(signedIn, {});
	expect([spoken.status, spoken.headers.get("x-balance-remaining")]).toEqual([200, "0.937500"]);
	expect(spoken.headers.get("x-service-balance-usd")).toBeNull();
	const heard = await send("/audio/transcriptions", signedIn, { model: "whisper-1" });
	expect([heard.status, heard.headers.get("x-balance-remaining")]).toEqual([200, "0.937300"]);
	expect(await fixture.gate.balance(accountId)).toBe(937_300_000);
});

test("of a stream it is told what is left for certain: the balance less what is held", async () => {
	const wallet = testWallet();
	const accountId = await fixture.fund(wallet, "1");
	const spoken = await speak(await wallet.signIn(fixture.gate.url), { streaming: true });
	expect([spoken.status, spoken.headers.get("x-balance-remaining")]).toEqual([200, "0.937500"]);
	await spoken.bytes();
	await until(async () => (await fixture.gate.balance(accountId)) === 937_500_000, "the charge");
});

test("a wallet without money gets 402 with what it can do; nothing is spoken", async () => {
	const before = upstream.requests.length;
	expect((await speak(await testWallet().signIn(fixture.gate.url), {})).status).toBe(402);
	expect(upstream.requests.length).toBe(before);
});

test("a sample is kept for nobody who could never speak with it", async () => {
	const { secret } = await fixture.gate.newKey({ creditUsd: "0" });
	for (const headers of [await testWallet().signIn(fixture.gate.url), { authorization: `Bearer ${secret}` }])
		expect((await send("/audio/voices", headers)).status).toBe(402);
});

test("voices of a wallet are its own", async () => {
	const [wallet, other] = [testWallet(), testWallet()];
	await fixture.fund(wallet, "1");
	const made = await send("/audio/voices", await wallet.signIn(fixture.gate.url));
	expect(made.status).toBe(200);
	const { id } = (await made.json()) as { id: string };
	const listed = async (headers: Record<string, string>) =>
		((await (await fixture.get("/audio/voices", headers)).json()) as { data: { id: string }[] }).data.map((voice) => voice.id);
	expect(await listed(await wallet.signIn(fixture.gate.url))).toEqual([id]);
	expect(await listed(await other.signIn(fixture.gate.url))).toEqual([]);
	expect(await listed({ authorization: `Bearer ${fixture.gate.key}` })).toEqual([]);
	expect((await speak(await wallet.signIn(fixture.gate.url), { model: "tts-chatterbox-hd", voice: id })).status).toBe(200);
});
