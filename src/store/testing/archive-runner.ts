/**
 * A process that archives until it is done, or kills itself right before the statement whose number is the round; -1
 * never kills.
 */
import type { KyselyPlugin } from "kysely";
import { openAdmin } from "../admin.ts";
import { archiveStep } from "../retention/archive-step.ts";

const [dataDir = "", postgres = "", folder = "", before = "", now = "0", round = "0"] = process.argv.slice(2);
let left = round === "-1" ? Number.POSITIVE_INFINITY : 2 + ((Number(round) * 7) % 23);

const killer: KyselyPlugin = {
	transformQuery: ({ node }) => {
		if (--left === 0) process.kill(process.pid, "SIGKILL");
		return node;
	},
	transformResult: async ({ result }) => result,
};

const admin = openAdmin(postgres === "" ? dataDir : postgres, () => Number(now));
const store = { ...admin, db: admin.db.withPlugin(killer) };
for (;;) {
	const { state } = await archiveStep(store, { before, folder, postsAStep: 7 });
	if (state === "idle") break;
	if (state === "elsewhere") await Bun.sleep(5);
}
await admin.close();
