/**
 * The embedded voice: how much work a second of speech is, and how soon it begins, for each family of voices. With
 * `--beside` the same model and voices in the Python package kokoro-onnx, where that speaks the language.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AssetStore, loadManifest } from "../src/assets/index.ts";
import { EMBEDDED_SPEECH_ASSETS, EmbeddedSpeech, SPEECH_SAMPLE_RATE } from "../src/engines/speech/index.ts";
import { silentLog } from "../src/telemetry/log.ts";
import { machine } from "./machine.ts";
import { usageOf } from "./process-accounting.ts";

const { values } = parseArgs({
	options: {
		threads: { type: "string", default: "1" },
		rounds: { type: "string", default: "3" },
		only: { type: "string", default: "" },
		beside: { type: "boolean", default: false },
	},
});

const FAMILIES: readonly (readonly [family: string, voice: string, text: string])[] = [
	[
		"American English",
		"af_heart",
		"The harbour was quiet that morning. A single boat moved slowly between the piers, and nobody seemed to notice it. By noon, however, all of that had changed.",
	],
	[
		"British English",
		"bm_george",
		"The harbour was quiet that morning. A single boat moved slowly between the piers, and nobody seemed to notice it. By noon, however, all of that had changed.",
	],
	[
		"Spanish",
		"ef_dora",
		"El puerto estaba tranquilo aquella mañana. Un solo barco se movía despacio entre los muelles, y nadie parecía notarlo.",
	],
	[
		"French",
		"ff_siwis",
		"Le port était calme ce matin. Un seul bateau avançait lentement entre les quais, et personne ne semblait le remarquer.",
	],
	[
		"Italian",
		"if_sara",
		"Il porto era tranquillo quella mattina. Una sola barca si muoveva lentamente tra i moli, e nessuno sembrava notarla.",
	],
	[
		"Portuguese",
		"pf_dora",
		"O porto estava calmo naquela manhã. Um único barco movia-se devagar entre os cais, e ninguém parecia notar.",
	],
	["Hindi", "hf_alpha", "उस सुबह बंदरगाह शांत था। एक अकेली नाव धीरे धीरे चल रही थी, और किसी ने ध्यान नहीं दिया।"],
	["Japanese", "jf_alpha", "その朝、港は静かでした。一隻の船がゆっくりと進んでいましたが、誰も気づきませんでした。"],
	["Chinese", "zf_xiaobei", "那天早上港口很安静。一艘船慢慢地在码头之间移动，似乎没有人注意到它。"],
];

/** Languages as the Python package names them. Of Japanese and Chinese it makes no phonemes by itself. */
const IN_PYTHON: Readonly<Record<string, string>> = {
	a: "en-us",
	b: "en-gb",
	e: "es",
	f: "fr-fr",
	i: "it",
	p: "pt-br",
	h: "hi",
};

interface Figure {
	readonly audioSeconds: number;
	readonly cpuSeconds: number;
	readonly wallSeconds: number;
	readonly firstMs: number;
}

async function speak(engine: EmbeddedSpeech, voice: string, text: string): Promise<Figure> {
	const cpu = () => (engine.pid === null ? 0 : usageOf([engine.pid]).cpuMs / 1_000);
	const cpuBefore = cpu();
	const begin = performance.now();
	let firstMs = 0;
	let samples = 0;
	for await (const piece of engine.synthesize({ text, voice, speed: 1, tenant: "test", signal: new AbortController().signal })) {
		firstMs ||= performance.now() - begin;
		samples += piece.samples.length;
	}
	return {
		audioSeconds: samples / SPEECH_SAMPLE_RATE,
		cpuSeconds: cpu() - cpuBefore,
		wallSeconds: (performance.now() - begin) / 1_000,
		firstMs,
	};
}

const checkout = join(import.meta.dir, "..");
const assets = new AssetStore({
	dir: join(checkout, ".cache/assets"),
	manifest: loadManifest(join(checkout, "catalog/assets.json")),
	log: silentLog,
});
for (const name of Object.values(EMBEDDED_SPEECH_ASSETS)) await assets.ensure(name);
const config = { enabled: true, threads: Number(values.threads), queue: 8, maxMemoryMb: 2_048, idleStopMs: 600_000 };
const engine = new EmbeddedSpeech({ config, assets, log: silentLog });
const families = FAMILIES.filter(([family]) => family.startsWith(values.only));
const { processor, cores, loadBefore, date, commit } = machine();
console.log(`${processor}, ${cores} cores, load ${loadBefore.toFixed(1)}, ${date}, ${commit}; threads ${values.threads}\n`);
console.log(
	"| Voices | audio s | CPU s per audio s | wall s per audio s | first piece ms | memory MB |\n|---|---|---|---|---|---|",
);
for (const [family, voice, text] of families) {
	// The first use of a voice reads it, and of Japanese a dictionary.
	await speak(engine, voice, text);
	// Of all rounds the one with the least CPU: other work on the machine only adds to it.
	let best: Figure | null = null;
	for (let round = 0; round < Number(values.rounds); round += 1) {
		const figure = await speak(engine, voice, text);
		if (best === null || figure.cpuSeconds < best.cpuSeconds) best = figure;
	}
	if (best === null) continue;
	show(`${family} (${voice})`, best, (await engine.rssBytes()) ?? 0);
}
await engine.stop();
if (values.beside) await besideInPython();

function show(name: string, { audioSeconds, cpuSeconds, wallSeconds, firstMs }: Figure, rssBytes: number): void {
	const per = (seconds: number) => (seconds / audioSeconds).toFixed(2);
	const columns = [
		name,
		audioSeconds.toFixed(1),
		per(cpuSeconds),
		per(wallSeconds),
		Math.round(firstMs),
		Math.round(rssBytes / 1e6),
	];
	console.log(`| ${columns.join(" | ")} |`);
}

async function besideInPython(): Promise<void> {
	const found = spawnSync("node", ["scripts/python-kokoro.mjs"], { cwd: checkout, encoding: "utf8" });
	if (found.status !== 0) throw new Error(found.stderr);
	const python = found.stdout.trim();
	const lines = families.flatMap(([family, voice, text]) => {
		const language = IN_PYTHON[voice.slice(0, 1)];
		return language === undefined ? [] : [[`kokoro-onnx 0.6.1, ${family}`, voice, language, text]];
	});
	const { model, voices } = EMBEDDED_SPEECH_ASSETS;
	const paths = await Promise.all([model, voices].map((name) => assets.ensure(name)));
	const child = Bun.spawn([python, join(import.meta.dir, "speech_in_python.py"), ...paths, values.threads, values.rounds], {
		stdin: new Blob([JSON.stringify(lines)]),
		stdout: "pipe",
		stderr: "inherit",
	});
	for (const line of (await new Response(child.stdout).text()).trim().split("\n")) {
		const [name, audioSeconds, cpuSeconds, wallSeconds, firstMs, rssBytes] = JSON.parse(line) as [string, ...number[]];
		const figure = { audioSeconds, cpuSeconds, wallSeconds, firstMs } as Figure;
		show(name, figure, rssBytes ?? 0);
	}
	if ((await child.exited) !== 0) process.exitCode = 1;
}
