/** Voices that callers bring, on two servers of one PostgreSQL: made on one, spoken on both, deleted on one for both. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { AudioFormatName } from "../../src/catalog/types.ts";
import { audit } from "../../src/ledger/index.ts";
import { type AdminStore, openAdmin } from "../../src/store/admin.ts";
import { readyEncoder } from "../support/audio-engines.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { type SpeechServer, startSpeechServer } from "../support/providers/speech-server.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { audioOf, type ScriptedAudioUpstream, startScriptedAudioUpstream } from "../support/scripted-audio-upstream.ts";
import { ADMIN_KEY, type Served, serve, temporaryFolder } from "../support/served.ts";
import { toneFile } from "../support/tone-file.ts";
import { until } from "../support/until.ts";

const ASSETS = join(import.meta.dir, "../../.cache/assets");
const SENT_WITH = "tts-chatterbox-hd";
const KEPT = "tts-minimax-speech-02-hd";

let cluster: PostgresCluster;
let clones: ScriptedAudioUpstream;
let labs: SpeechServer;
let nodes: readonly [Served, Served];
let store: AdminStore;
let sample: Uint8Array;
/** Voices at the scripted provider. */
const kept = new Set<string>();
let uploads = 0;

beforeAll(async () => {
	const encoder = await readyEncoder();
	mkdirSync(ASSETS, { recursive: true });
	sample = await toneFile(encoder, "wav", 1);
	const mp3 = await toneFile(encoder, "mp3", 0.2);
	clones = startScriptedAudioUpstream();
	labs = startSpeechServer({ mp3 } as Record<AudioFormatName, Uint8Array>);
	labs.also(({ method, path }) => {
		if (path === "/v1/voices/add") {
			const id = `their-${++uploads}`;
			kept.add(id);
			return Response.json({ voice_id: id });
		}
		if (method !== "DELETE") return undefined;
		return kept.delete(path.split("/").at(-1) ?? "") ? Response.json({ status: "ok" }) : new Response("{}", { status: 404 });
	});
	cluster = await startPostgres();
	const url = await cluster.newDatabase();
	const config = {
		store: url,
		log: { level: "warn" },
		accounts: { startingCreditUsd: "5" },
		upstreams: { clones: upstreamEntry(clones.url), elevenlabs: labs.upstreams.elevenlabs },
		models: {
			entries: {
				[SENT_WITH]: { upstreams: [{ upstream: "clones", model: "chatterbox", cloning: "voice_file" }] },
				[KEPT]: { upstreams: [{ upstream: "elevenlabs", model: "eleven_turbo_v2_5", cloning: "registered" }] },
			},
		},
	};
	const start = () => {
		const dataDir = temporaryFolder();
		// The encoder that is there already: each node would fetch its own.
		symlinkSync(ASSETS, join(dataDir, "assets"));
		return serve({ dataDir, config });
	};
	nodes = await Promise.all([start(), start()]);
	store = openAdmin(url);
});

afterAll(async () => {
	for (const node of nodes ?? []) node.remove();
	await store?.close();
	await clones?.stop();
	await labs?.stop();
	await cluster?.stop();
});

const ask = (node: Served, method: string, path: string, body?: string | FormData) =>
	fetch(`${node.url}/api/v1/audio/${path}`, {
		method,
		headers: {
			authorization: `Bearer ${ADMIN_KEY}`,
			...(typeof body === "string" ? { "content-type": "application/json" } : {}),
		},
		...(body === undefined ? {} : { body }),
	});

async function createVoice(node: Served, model: string): Promise<string> {
	const form = new FormData();
	form.set("model", model);
	form.set("file", new Blob([sample as Uint8Array<ArrayBuffer>]), "me.wav");
	const response = await ask(node, "POST", "voices", form);
	expect(response.status).toBe(200);
	return ((await response.json()) as { id: string }).id;
}

const speak = (node: Served, model: string, voice: string) =>
	ask(node, "POST", "speech", JSON.stringify({ model, voice, input: "Hello." }));
const idsOn = async (node: Served) =>
	((await (await ask(node, "GET", "voices")).json()) as { data: { id: string }[] }).data.map(({ id }) => id);

test("a voice made on one node speaks on the other by its sample, and is gone on both once it is deleted", async () => {
	const [one, two] = nodes;
	const voice = await createVoice(one, SENT_WITH);
	expect(await idsOn(two)).toEqual([voice]);
	expect(await (await speak(two, SENT_WITH, voice)).bytes()).toEqual(audioOf("Hello."));
	expect(clones.requests.at(-1)?.files.voice_file).toEqual(sample);
	expect((await ask(two, "DELETE", `voices/${voice}`)).status).toBe(200);
	for (const node of nodes) {
		expect((await speak(node, SENT_WITH, voice)).status).toBe(400);
		expect(await idsOn(node)).toEqual([]);
	}
	expect(await store.db.selectFrom("voice_sample_parts").select("part").execute()).toEqual([]);
});

test("an upstream that keeps voices is given the sample once by both nodes, and loses it with the handle", async () => {
	const [one, two] = nodes;
	const voice = await createVoice(one, KEPT);
	const answers = await Promise.all([one, two, one, two, one, two].map((node) => speak(node, KEPT, voice)));
	expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
	for (const answer of answers) expect((await answer.bytes()).length).toBeGreaterThan(100);
	expect([uploads, [...kept]]).toEqual([1, ["their-1"]]);
	expect((await ask(one, "DELETE", `voices/${voice}`)).status).toBe(200);
	expect((await speak(two, KEPT, voice)).status).toBe(400);
	await until(() => kept.size === 0);
	expect(labs.complaints).toEqual([]);
	await until(async () => (await store.db.selectFrom("upstream_voices").selectAll().execute()).length === 0);
	expect((await audit(store.db)).ok).toBe(true);
});
