import { defineCommand } from "citty";
import type { Finding } from "../../telemetry/finding.ts";
import { print, printJson } from "../print.ts";
import { configOrExit, jsonArg, storeArgs } from "../store-args.ts";
import { checkBooks } from "./books.ts";
import { checkChains, checkStakes, checkWalletPayments } from "./chains.ts";
import { checkEngines } from "./engines.ts";
import { checkArchive, checkDataFolder, checkFileDescriptors, checkMemoryLimits, checkServer } from "./machine.ts";
import { checkModels } from "./models.ts";
import { checkAddresses } from "./reachable.ts";

export const doctor = defineCommand({
	meta: { name: "doctor", description: "Check what works and how to fix what does not; exits with 1 if there is a fault" },
	args: { ...jsonArg, ...storeArgs },
	async run({ args }) {
		const { config, file, places } = configOrExit(args);
		const findings: Finding[] = [
			{ name: "configuration", state: "ok", text: file ?? "no file; defaults and environment" },
			{ name: "runtime", state: "ok", text: `Bun ${Bun.version} on ${process.platform}-${process.arch}` },
			...checkDataFolder(config),
			...checkArchive(config),
			checkMemoryLimits(),
			...checkFileDescriptors(),
			await checkServer(config),
			await checkBooks(config),
			...(await checkModels(config, places)),
			...(await checkChains(config, places)),
			...(await checkStakes(config)),
			...(await checkWalletPayments(config)),
			...(await checkAddresses(config)),
			...(await checkEngines(config)),
		];
		const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
		if (count("fault") > 0) process.exitCode = 1;
		if (args.json) return printJson(findings);
		for (const finding of findings) print(lines(finding));
		print(`\n${count("ok")} ok, ${count("note")} notes, ${count("fault")} faults`);
	},
});

const MARKS = { ok: "ok     ", note: "note   ", fault: "FAULT  " } as const;

function lines({ name, state, text, mend }: Finding): string {
	return `${MARKS[state]}${name}: ${text}${mend === undefined ? "" : `\n       fix: ${mend}`}`;
}
