import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WAIT_LIMIT_MS } from "./until.ts";

/** LibreOffice's program; null where it is not installed. */
export const OFFICE_SUITE = Bun.which("soffice");

export interface Conversion {
	/** Flat OpenDocument: the file's name with its extension, and its XML. */
	readonly name: string;
	readonly xml: string;
	/** Extensions of the files to write from it. */
	readonly to: readonly string[];
}

/** What is said to the suite of a format beside its extension: the filter, for text in UTF-8. */
const FILTERS: Readonly<Record<string, string>> = {
	txt: "txt:Text (encoded):UTF8",
	csv: "csv:Text - txt - csv (StarCalc):44,34,76",
};

/** Writes all files into a new folder, one run of the suite a format. The caller removes it. */
export async function convert(program: string, conversions: readonly Conversion[]): Promise<string> {
	const folder = mkdtempSync(join(tmpdir(), "office-"));
	const profile = join(folder, "profile");
	for (const { name, xml } of conversions) writeFileSync(join(folder, name), xml);
	for (const format of new Set(conversions.flatMap(({ to }) => to))) {
		const sources = conversions.filter(({ to }) => to.includes(format)).map(({ name }) => join(folder, name));
		const suite = Bun.spawn(
			[
				program,
				`-env:UserInstallation=${pathToFileURL(profile)}`,
				"--headless",
				"--convert-to",
				FILTERS[format] ?? format,
				"--outdir",
				folder,
				...sources,
			],
			{ stdout: "ignore", stderr: "pipe", timeout: WAIT_LIMIT_MS },
		);
		const said = await new Response(suite.stderr).text();
		await suite.exited;
		if (suite.exitCode !== 0) throw new Error(`${format}: the suite ended with ${suite.exitCode ?? suite.signalCode}: ${said}`);
	}
	rmSync(profile, { recursive: true, force: true });
	return folder;
}
