/**
 * Files of test/samples beside two other readers, on one machine and one after the other: markers found in the text,
 * seconds and peak memory of a process that is started for the file. See bench/README.md, Documents.
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { isBusy, machine } from "./machine.ts";
import { writeSection } from "./page.ts";

const { values: options } = parseArgs({
	options: {
		tika: { type: "string" },
		markitdown: { type: "string" },
		rounds: { type: "string", default: "3" },
		dry: { type: "boolean", default: false },
	},
});
const rounds = Number(options.rounds);
const SAMPLES = join(import.meta.dir, "../test/samples");
const LIMIT_MS = 120_000;

const MARKERS = [
	"This is the header text.",
	"Footnote appears here",
	"This is a footnote",
	"Here is a text box",
	"Bold",
	"Here is a list:",
	"Bullet 1",
	"Bullet 3",
	"Here is a numbered list:",
	"Number bullet 1",
	"Number bullet 3",
	"Keyword1 Keyword2",
	"This is a hyperlink",
	"Subject is here",
	"Row 1 Col 1",
	"Row 2 Col 2",
	"ゾルゲと尾崎、淡々と最期",
	"（ＧＨＱ）",
	"And then some Gothic text",
	"Here is a citation:",
	"Figure 1 This is a caption for Figure 1",
	"This is the footer text.",
];
/** A slide has no header and no footer. */
const SLIDE_MARKERS = MARKERS.filter((marker) => !/(header|footer) text/.test(marker));
const CELLS = [
	"Format Examples",
	"1,599.99",
	"$1,599.99",
	"1.98E+08",
	"2.50%",
	"2 1/2",
	"6:15 AM",
	"17-May-07",
	"19 dollars and .99 cents",
];
const FILES: readonly (readonly [file: string, markers: readonly string[]])[] = [
	["testWORD_various.docx", MARKERS],
	["testPPT_various.pptx", SLIDE_MARKERS],
	["testEXCEL-formats.xlsx", CELLS],
	["testPDFVarious.pdf", MARKERS],
	["testRTFVarious.rtf", MARKERS],
	["harmless-clean.doc", ["This is a harmless test document.", "ünicöde-ßtringß"]],
];

interface Reader {
	readonly name: string;
	command(path: string): readonly string[];
}

function markitdownName(python: string): string {
	const { stdout } = Bun.spawnSync([python, "-m", "markitdown", "--version"]);
	return stdout.toString().trim();
}

function readers(): Reader[] {
	const probe = join(import.meta.dir, "documents-probe.ts");
	const list: Reader[] = [{ name: "Turnpike", command: (path) => [process.execPath, "--no-env-file", probe, path] }];
	const { markitdown } = options;
	if (markitdown === undefined) console.error("measuring without markitdown: --markitdown names a Python that has it");
	else list.push({ name: markitdownName(markitdown), command: (path) => [markitdown, "-m", "markitdown", path] });
	const jar = options.tika;
	if (jar === undefined || !existsSync(jar)) console.error("measuring without Apache Tika: --tika names its jar (tika-app)");
	else
		list.push({
			name: `Apache Tika ${/\d+(\.\d+)+/.exec(basename(jar))?.[0] ?? ""}`.trim(),
			command: (path) => ["java", "-jar", jar, "--text", path],
		});
	return list;
}

interface Run {
	readonly found: number;
	readonly seconds: number;
	readonly peakMb: number;
}

async function run(reader: Reader, file: string, markers: readonly string[]): Promise<Run> {
	const startedAt = performance.now();
	const child = Bun.spawn([...reader.command(join(SAMPLES, file))], { stdout: "pipe", stderr: "ignore", timeout: LIMIT_MS });
	const text = await new Response(child.stdout).text();
	await child.exited;
	const seconds = (performance.now() - startedAt) / 1_000;
	const shown = text.replaceAll(/\s+/g, " ");
	const found = markers.filter((marker) => shown.includes(marker)).length;
	return { found, seconds, peakMb: (child.resourceUsage()?.maxRSS ?? 0) / 2 ** 20 };
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

interface FileRow {
	readonly file: string;
	readonly markers: number;
	/** By reader, in their order. */
	readonly runs: readonly Run[];
}

async function measured(reader: Reader, file: string, markers: readonly string[]): Promise<Run> {
	const runs: Run[] = [];
	for (let round = 0; round < rounds; round += 1) runs.push(await run(reader, file, markers));
	const middle = {
		found: Math.min(...runs.map(({ found }) => found)),
		seconds: median(runs.map(({ seconds }) => seconds)),
		peakMb: median(runs.map(({ peakMb }) => peakMb)),
	};
	console.error(file, reader.name, middle);
	return middle;
}

function section(names: readonly string[], rows: readonly FileRow[]): string {
	const { processor, cores, memoryGb, system, date, commit, loadBefore } = measuredOn;
	const head = ["", ...names.flatMap((name) => [`${name}: found`, "s", "MB"])];
	const lines = rows.map(({ file, markers, runs }) => [
		`${file} (${markers})`,
		...runs.flatMap(({ found, seconds, peakMb }) => [String(found), seconds.toFixed(2), peakMb.toFixed(0)]),
	]);
	const table = [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...lines];
	return [
		"## Text of files",
		"Written by `bun bench/documents.ts`. Known texts of each file that a reader finds, and what a process that is started for the file takes: its start counts, for each of them.",
		`${date}, commit ${commit}. ${processor}, ${cores} cores, ${memoryGb} GB; ${system}; Bun ${Bun.version}. Median of ${rounds}.`,
		...(isBusy({ cores, loadBefore })
			? [`**The machine was busy with other work (load average ${loadBefore.toFixed(1)} before the run).**`]
			: []),
		table.map((cells) => `| ${cells.join(" | ")} |`).join("\n"),
	].join("\n\n");
}

const measuredOn = machine();
const list = readers();
const rows: FileRow[] = [];
for (const [file, markers] of FILES) {
	const runs: Run[] = [];
	for (const reader of list) runs.push(await measured(reader, file, markers));
	rows.push({ file, markers: markers.length, runs });
}
const page = section(
	list.map(({ name }) => name),
	rows,
);
if (options.dry) console.log(page);
else writeSection(page);
