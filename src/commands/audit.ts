import { defineCommand } from "citty";
import { audit as auditBooks } from "../ledger/index.ts";
import { readBacklog } from "../store/admin.ts";
import { checkArchives } from "../store/retention/check-archives.ts";
import { print, printJson } from "./print.ts";
import { configOrExit, jsonArg, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

export const audit = defineCommand({
	meta: { name: "audit", description: "Check that the books balance; exits with 1 if they do not" },
	args: {
		archives: {
			type: "string",
			description: "Also compare the archive files in this folder with the books",
			valueHint: "FOLDER",
		},
		...jsonArg,
		...storeArgs,
	},
	run: ({ args }) =>
		withStore(args, async (admin) => {
			const bookAudit = await auditBooks(admin.db);
			const archives = args.archives === undefined ? null : await checkArchives(admin.db, args.archives);
			const findings = [...bookAudit.findings, ...(archives?.findings ?? [])];
			const report = { ...bookAudit, ok: findings.length === 0, findings };
			if (!report.ok) process.exitCode = 1;
			const backlog = await readBacklog(admin, configOrExit(args).config.data);
			if (args.json) return printJson({ ...report, backlog, ...(archives === null ? {} : { archives }) });
			const { accounts, posts, movements, appliedSeq } = report.counted;
			const nodes = Object.entries(appliedSeq).map(([node, seq]) => `${node} up to ${seq}`);
			print(
				`${accounts} accounts, ${posts} posts, ${movements} movements; journal applied: ${nodes.join(", ") || "nothing yet"}`,
			);
			if (backlog.groups > 0) {
				print(`${backlog.records} records of this folder's journal are not in the store yet, and not in these figures`);
			}
			if (archives !== null) print(`${archives.files} archive files with ${archives.posts} posts were read`);
			for (const finding of report.findings)
				print(`FAULT ${finding.check}: ${finding.message} ${JSON.stringify(finding.numbers)}`);
			if (report.truncated) print("... and more");
			print(report.ok ? "The books balance" : `${report.findings.length} faults`);
		}),
});
