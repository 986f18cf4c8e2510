/**
 * Files of known content beside two other readers, each in one process that has read every file before: texts found in
 * the order of the page, and milliseconds a file. See bench/README.md, Documents.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { officeCorpus } from "../test/support/office-corpus.ts";
import { convert, OFFICE_SUITE } from "../test/support/office-suite.ts";
import { isBusy, machine } from "./machine.ts";
import { writeSection } from "./page.ts";

const { values: options } = parseArgs({
	options: {
		tika: { type: "string" },
		markitdown: { type: "string" },
		rounds: { type: "string", default: "7" },
		dry: { type: "boolean", default: false },
	},
});
const { tika = "", markitdown = "" } = options;
if (OFFICE_SUITE === null || !existsSync(tika) || !existsSync(markitdown))
	throw new Error("needs LibreOffice (soffice), --tika (tika-app's jar) and --markitdown (a Python that has it)");
const measuredOn = machine();

const readers = [
	{ name: "Turnpike", command: [process.execPath, "--no-env-file", join(import.meta.dir, "documents-loop.ts")] },
	{ name: "markitdown", command: [markitdown, join(import.meta.dir, "documents_loop.py")] },
	{ name: "Apache Tika", command: ["java", "-cp", tika, join(import.meta.dir, "DocumentsLoop.java")] },
];

const folder = await convert(OFFICE_SUITE, officeCorpus);
const out = mkdtempSync(join(tmpdir(), "documents-"));
const files = officeCorpus.flatMap(({ name, to, texts }) => to.map((format) => ({ name: name.replace(/\w+$/, format), texts })));

/** How many of the texts stand in the order that is known: the longest run of places that rise. */
function foundInOrder(text: string, texts: readonly string[]): number {
	const shown = text.replaceAll(/\s+/g, " ");
	const best: { readonly place: number; readonly length: number }[] = [];
	for (const known of texts) {
		const place = shown.indexOf(known);
		if (place < 0) continue;
		const before = best.reduce((most, run) => (run.place < place && run.length > most ? run.length : most), 0);
		best.push({ place, length: before + 1 });
	}
	return best.reduce((most, { length }) => Math.max(most, length), 0);
}

const columns: {
	readonly name: string;
	readonly peakMb: number;
	readonly rows: readonly (readonly [found: number, ms: string])[];
}[] = [];
for (const { name, command } of readers) {
	const child = Bun.spawn([...command, options.rounds, out, ...files.map((file) => join(folder, file.name))], {
		stdout: "pipe",
		stderr: "ignore",
		timeout: 300_000,
	});
	const times = (await new Response(child.stdout).text()).trim().split("\n");
	await child.exited;
	const rows = files.map((file, index): readonly [number, string] => {
		const path = join(out, `${file.name}.txt`);
		const found = existsSync(path) ? foundInOrder(readFileSync(path, "utf8"), file.texts) : 0;
		rmSync(path, { force: true });
		return [found, found === 0 ? "-" : Number(times[index]).toFixed(1)];
	});
	columns.push({ name, peakMb: (child.resourceUsage()?.maxRSS ?? 0) / 2 ** 20, rows });
	console.error(name, rows);
}
rmSync(folder, { recursive: true });
rmSync(out, { recursive: true });

const { processor, cores, memoryGb, system, date, commit, loadBefore } = measuredOn;
const head = ["", ...columns.flatMap(({ name }) => [`${name}: found`, "ms"])];
const table = [
	head,
	head.map((_, index) => (index === 0 ? "---" : "---:")),
	...files.map((file, index) => [
		`${file.name} (${file.texts.length})`,
		...columns.flatMap(({ rows }) => rows[index]?.map(String) ?? []),
	]),
	["peak of the process, MB", ...columns.flatMap(({ peakMb }) => ["", peakMb.toFixed(0)])],
];
const page = [
	"## Text of files, in a warm process",
	`Written by \`bun bench/documents-warm.ts\`. LibreOffice made the files of known content; found: how many of its paragraphs and cells stand in the text, in their order. Each reader is one process that reads each file ${options.rounds} times, from memory or disk as it likes; the median, after all code has run. None reads pictures: Tika is told not to.`,
	`${date}, commit ${commit}. ${processor}, ${cores} cores, ${memoryGb} GB; ${system}; Bun ${Bun.version}.`,
	...(isBusy({ cores, loadBefore })
		? [`**The machine was busy with other work (load average ${loadBefore.toFixed(1)} before the run).**`]
		: []),
	table.map((cells) => `| ${cells.join(" | ")} |`).join("\n"),
].join("\n\n");
if (options.dry) console.log(page);
else writeSection(page);
